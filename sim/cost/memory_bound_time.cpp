// SPDX-License-Identifier: Apache-2.0
#include "cost/memory_bound_time.hpp"

#include "base/assert.hpp"

#include <array>
#include <string_view>

namespace orrery {

Seconds memory_bound_closed_form(const MemoryBoundFit& fit, const GpuProfile& gpu,
                                 const MemoryBoundKernel& kernel) {
    const Bytes bytes = kernel.read + kernel.written;
    const double boost = bytes < gpu.l2 / 2.0 ? gpu.cache_boost : 1.0;
    return fit.t0 + bytes / (gpu.hbm_bandwidth * (fit.share * boost));
}

KernelTime memory_bound_time(const GpuProfile& gpu, const std::string& impl,
                             const MemoryBoundKernel& kernel) {
    const std::string pass = kernel.pass == KernelPass::Forward ? "/forward/" : "/backward/";
    const std::array<std::string, 4> impls{impl, "compiled", "fused", "eager"};
    for (const std::string& op : {kernel.op, std::string("*")}) {
        for (const std::string& candidate : impls) {
            const auto found = gpu.memory_bound.find(op + pass + candidate);
            if (found == gpu.memory_bound.end()) {
                continue;
            }
            const bool is_own =
                op != "*" && candidate == impl && gpu.origin.starts_with("measured");
            return {memory_bound_closed_form(found->second, gpu, kernel),
                    is_own ? TimeSource::Interpolated : TimeSource::Roofline, found->second.sigma};
        }
    }
    ORRERY_ASSERT(false, "a profile has a default fit of memory-bound kernels for each pass");
    return {};
}

}  // namespace orrery
