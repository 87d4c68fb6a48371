// SPDX-License-Identifier: Apache-2.0
#include "calibrate/fit/gpu_kernel_fits.hpp"
#include "calibrate/fit/memory_bound_fit.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace orrery {
namespace {

using MemoryFits = std::map<std::string, Sourced<MemoryBoundFit>>;

/// A kernel's own start and end; the gap to the next kernel is apart.
constexpr Seconds kKernelStart(1.8e-6);

/// GPUs whose memory-bound tables speak for `gpu`, best first. The cuDNN front-end's norms are
/// measured as kernels, Liger's as whole autograd calls; so Hopper's norms come from H200's table.
/// Ops that a family lacks come from Hopper's tables.
std::vector<std::string_view> memory_chain(std::string_view gpu) {
    std::vector<std::string_view> chain;
    if (gpu == "a100-pcie") {
        chain = {"a100-pcie", "a100-sxm-80g"};
    } else if (gpu.starts_with("a")) {
        chain = {"a100-sxm-80g", "a100-pcie"};
    } else if (!gpu.starts_with("h")) {
        chain = gpu.ends_with("300") ? std::vector<std::string_view>{"gb300", "gb200"}
                                     : std::vector<std::string_view>{"gb200", "b200"};
    }
    chain.insert(chain.end(), {"h200", "h100-sxm"});
    return chain;
}

Origin origin_of(const KnownGpu& gpu, std::string_view source, const std::string& tables) {
    if (gpu.name == source) {
        return {tables, Trust::Measured, 0.0};
    }
    return {"share of HBM as measured on " + std::string(source) + ": " + tables, Trust::Scaled,
            0.0};
}

/// Median share of the fits whose key ends with `suffix`, or 0.
double median_share(const MemoryFits& fits, std::string_view suffix) {
    std::vector<double> shares;
    for (const auto& [key, fit] : fits) {
        if (key.ends_with(suffix)) {
            shares.push_back(fit.value.share);
        }
    }
    return shares.empty() ? 0.0 : median(shares);
}

/// What nobody measured: an op without a fit runs as the median of those with one; element-wise
/// kernels run backward as they run forward, the norms' backward (a reduction over rows) has fits
/// of its own.
void add_defaults(MemoryFits& fits, double stream) {
    const double eager = median_share(fits, "/forward/eager");
    const double fused = std::max(median_share(fits, "/forward/fused"), eager);
    const auto add = [&](const std::string& key, double share, const std::string& why) {
        fits.try_emplace(
            key, Sourced<MemoryBoundFit>{{kKernelStart, share, 0.25}, {why, Trust::Assumed, 0.25}});
    };
    const std::string of_fused = "median of this GPU's fused forward kernels";
    add("*/forward/fused", fused, of_fused);
    add("*/backward/fused", 0.95 * fused, of_fused + " times 0.95");
    add("*/forward/compiled", 0.95 * fused, of_fused + " times 0.95");
    add("*/backward/compiled", 0.9 * fused, of_fused + " times 0.9");
    const std::string of_eager = "median of this GPU's eager forward kernels";
    add("*/forward/eager", eager, of_eager);
    add("*/backward/eager", 0.9 * eager, of_eager + " times 0.9");
    for (const char* op : {"adam", "cast", "copy", "grad_norm", "memset"}) {
        for (const char* impl : {"/forward/fused", "/forward/eager"}) {
            add(op + std::string(impl), stream, "as a stream copy");
        }
    }
}

}  // namespace

Expected<MemoryFits> memory_bound_fits(const CalibrationFolder& folder, const KnownGpu& gpu) {
    MemoryFits fits;
    double stream = 0.0;
    for (const std::string_view name : memory_chain(gpu.name)) {
        const KnownGpu& source = known_gpu(name);
        ORRERY_TRY(table, folder.table("memory_bound_" + std::string(source.table)));
        ORRERY_TRY(points, read_memory_bound(table));
        ORRERY_TRY(rate, stream_copy_rate(table));
        const BytesPerSecond hbm(source.hbm_gbps * 1e9);
        const Bytes l2(source.l2_mb * 1e6);
        const double here = rate / hbm;
        if (here > 0.0 && stream == 0.0) {
            stream = here;
        }
        const Origin origin =
            origin_of(gpu, name, "cuDNN front-end (MIT), Liger-Kernel (BSD-2), NeuSight (MIT)");
        for (const auto& [key, fit] : fit_memory_bound(points, hbm, l2, kKernelStart)) {
            Sourced<MemoryBoundFit> entry{fit, origin};
            if (gpu.name != name) {
                entry.value.sigma = std::hypot(fit.sigma, 0.10);
            }
            fits.try_emplace(key, entry);
        }
    }
    add_defaults(fits, stream > 0.0 ? stream : 0.84);
    return fits;
}

}  // namespace orrery
