// SPDX-License-Identifier: Apache-2.0
#include "calibrate/fit/known_gpus.hpp"

#include "base/assert.hpp"

#include <algorithm>

namespace orrery {
namespace {

// Sources: NVIDIA's datasheets of A100, H100, H200, HGX B200 and B300, GB200 and GB300 NVL72; the
// H100 of 96 GB and 500 W as torchtitan's published logs describe it. Capacities are what PyTorch
// reports.
constexpr std::array<KnownGpu, 11> kGpus{{
    {"a100-sxm-80g", "NVIDIA A100-SXM4, 80 GB HBM2e", "a100_sxm", "", 312, 0, 0, 19.5, 2039, 40,
     79.15, 108, 300, 400, 24},
    {"a100-sxm-40g", "NVIDIA A100-SXM4, 40 GB HBM2", "", "a100-sxm-80g", 312, 0, 0, 19.5, 1555, 40,
     39.39, 108, 300, 400, 24, true},
    {"a100-pcie", "NVIDIA A100-PCIe, 80 GB HBM2e", "a100_pcie", "a100-sxm-80g", 312, 0, 0, 19.5,
     1935, 40, 79.15, 108, 25, 300, 24},
    {"h100-sxm", "NVIDIA H100-SXM5, 80 GB HBM3", "h100_sxm", "", 989, 1979, 0, 67, 3350, 50, 79.1,
     132, 450, 700, 24},
    {"h200", "NVIDIA H200-SXM, 141 GB HBM3e", "h200_sxm", "", 989, 1979, 0, 67, 4800, 60, 139.8,
     132, 450, 700, 24},
    {"h800", "NVIDIA H800-SXM5, 80 GB HBM3, NVLink of 200 GB/s", "", "h100-sxm", 989, 1979, 0, 67,
     3350, 50, 79.1, 132, 200, 700, 24},
    {"h100-96g-500w", "NVIDIA H100, 96 GB HBM2e, limited to 500 W", "", "h100-sxm", 989, 1979, 0,
     67, 2400, 50, 95.0, 132, 450, 500, 24},
    {"b200", "NVIDIA B200-SXM, 180 GB HBM3e", "b200_sxm", "", 2250, 4500, 9000, 75, 8000, 126,
     178.3, 148, 900, 1000, 32},
    {"gb200", "NVIDIA GB200, 186 GB HBM3e, NVL72", "gb200", "", 2500, 5000, 10000, 80, 8000, 126,
     184.0, 152, 900, 1200, 32},
    {"b300", "NVIDIA B300-SXM, 288 GB HBM3e", "b300_sxm", "b200", 2250, 4500, 13000, 75, 8000, 126,
     267.6, 148, 900, 1100, 32},
    {"gb300", "NVIDIA GB300, 288 GB HBM3e, NVL72", "gb300", "gb200", 2500, 5000, 15000, 80, 8000,
     126, 276.5, 152, 900, 1400, 32},
}};

// Rates are the NICs' own. Bases where nobody measured one: NCCL's for InfiniBand with NDR's
// measured start, RoCE a few microseconds more, EFA and TCP as their measured siblings.
constexpr std::array<KnownFabric, 14> kFabrics{{
    {"ib_hdr_4x200", "InfiniBand HDR, 4 NICs of 200 Gb/s a node", 200, 4, 10, 0.90},
    {"ib_hdr_8x200", "InfiniBand HDR, 8 NICs of 200 Gb/s a node", 200, 8, 10, 0.90},
    {"ib_ndr_8x400", "InfiniBand NDR, 8 NICs of 400 Gb/s a node", 400, 8, 10, 0.90},
    {"roce_8x200", "RoCE, 8 NICs of 200 Gb/s a node", 200, 8, 15, 0.88},
    {"roce_8x400", "RoCE, 8 NICs of 400 Gb/s a node", 400, 8, 15, 0.88},
    {"roce_8x400_gcp", "RoCE of Google Cloud A3 Ultra and A4, 8 NICs of 400 Gb/s a node", 400, 8,
     25, 0.82},
    {"roce_16x100", "RoCE of OCI BM.GPU4, 16 NICs of 100 Gb/s a node", 100, 16, 15, 0.88},
    {"efa_4x100", "AWS EFA of p4d and p4de, 4 NICs of 100 Gb/s a node", 100, 4, 80, 0.82},
    {"efa_32x100", "AWS EFA of p5, 32 NICs of 100 Gb/s a node", 100, 32, 40, 0.85},
    {"efa_8x400", "AWS EFA of p5en and p6, 8 NICs of 400 Gb/s a node", 400, 8, 40, 0.85},
    {"tcpx_4x200", "GPUDirect-TCPX of Google Cloud A3 High, 4 NICs of 200 Gb/s a node", 200, 4, 80,
     0.82},
    {"tcpxo_8x200", "GPUDirect-TCPXO of Google Cloud A3 Mega, 8 NICs of 200 Gb/s a node", 200, 8,
     60, 0.88},
    {"nvl72_ib_ndr_4x400", "InfiniBand NDR between NVL72 racks, 4 NICs of 400 Gb/s a host", 400, 4,
     10, 0.90},
    {"nvl72_roce_4x400", "RoCE between NVL72 racks, 4 NICs of 400 Gb/s a host", 400, 4, 15, 0.88},
}};

}  // namespace

std::span<const KnownGpu> known_gpus() {
    return kGpus;
}

const KnownGpu& known_gpu(std::string_view name) {
    const auto* found = std::ranges::find(kGpus, name, &KnownGpu::name);
    ORRERY_ASSERT(found != kGpus.end(), "a profile is only made for a GPU whose datasheet is here");
    return *found;
}

std::span<const KnownFabric> known_fabrics() {
    return kFabrics;
}

}  // namespace orrery
