// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/sim_time.hpp"
#include "cost/profile.hpp"

#include <cstdint>

namespace orrery {

/// Slow-down of a kernel while collectives hold SMs of its GPU, in units of 1/65536 (65536 = none).
/// A product loses the share of SMs taken and the profile's residual; a memory-bound kernel the
/// residual only (HBM is its bottleneck, not SMs).
class Contention {
  public:
    static constexpr std::int64_t kOne = 65536;

    Contention(std::int64_t sms, double gemm_keeps, double memory_bound_keeps);

    explicit Contention(const GpuProfile& gpu)
        : Contention(gpu.sms, gpu.gemm_beside_comm, gpu.memory_bound_beside_comm) {}

    /// Requires: sms_taken >= 0. At most 95% of the SMs count as taken.
    [[nodiscard]] std::int64_t slowdown(bool is_memory_bound, std::int64_t sms_taken) const;

  private:
    std::int64_t sms_;
    double gemm_keeps_;
    double memory_bound_keeps_;
};

}  // namespace orrery
