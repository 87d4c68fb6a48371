// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cost/kernel_time.hpp"
#include "cost/profile.hpp"

#include <string>

namespace orrery {

/// t = t0 + bytes / (share · boost · HBM), boost = the profile's cache_boost while the bytes stay
/// under half the L2, else 1.
[[nodiscard]] Seconds memory_bound_closed_form(const MemoryBoundFit& fit, const GpuProfile& gpu,
                                               const MemoryBoundKernel& kernel);

/// Time with the first fit that the profile has of: op/pass/impl, op/pass of a neighbouring impl
/// (compiled, then fused), "*"/pass/impl, "*"/pass of a neighbouring impl. A fit of this op and
/// impl on a measured GPU is Interpolated (from its sizes to this one), any other Roofline.
[[nodiscard]] KernelTime memory_bound_time(const GpuProfile& gpu, const std::string& impl,
                                           const MemoryBoundKernel& kernel);

}  // namespace orrery
