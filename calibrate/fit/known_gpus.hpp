// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace orrery {

/// Datasheet of a GPU and where its measurements stand. Rates in SI, peaks dense.
struct KnownGpu {
    std::string_view name;
    std::string_view summary;
    std::string_view table;  ///< of calibration files: "h100_sxm" in "gemm_h100_sxm.csv"; "" = none
    std::string_view sibling;  ///< GPU whose kernel fits are taken where it has none of its own
    double bf16_tflops = 0.0;
    double fp8_tflops = 0.0;    ///< 0: no such units
    double nvfp4_tflops = 0.0;  ///< 0: no such units
    double fp32_tflops = 0.0;   ///< CUDA cores, not TF32
    double hbm_gbps = 0.0;
    double l2_mb = 0.0;
    double capacity_gib = 0.0;  ///< what a process can get (recalled)
    std::int64_t sms = 0;
    double nvlink_gbps = 0.0;  ///< of a GPU, one direction
    double power_w = 0.0;
    std::int64_t nccl_sms = 0;  ///< held by NCCL on one node
    bool has_sibling_kernels =
        false;  ///< the sibling's chip: its measured products are this GPU's, too
};

/// Every GPU that a profile is made for, siblings after those they are scaled from.
[[nodiscard]] std::span<const KnownGpu> known_gpus();

/// The GPU of this name. Requires: it is known.
[[nodiscard]] const KnownGpu& known_gpu(std::string_view name);

/// A network between nodes. `gbps` is of one NIC and direction.
struct KnownFabric {
    std::string_view name;
    std::string_view summary;
    double nic_gbps = 0.0;
    std::int64_t nics = 0;
    double base_us = 0.0;     ///< start of a collective where nobody measured one
    double efficiency = 0.0;  ///< share of the NIC's rate where nobody measured it
};

[[nodiscard]] std::span<const KnownFabric> known_fabrics();

}  // namespace orrery
