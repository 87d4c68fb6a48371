// SPDX-License-Identifier: Apache-2.0
#include "cost/contention.hpp"

#include "base/assert.hpp"

#include <algorithm>
#include <cmath>

namespace orrery {

Contention::Contention(std::int64_t sms, double gemm_keeps, double memory_bound_keeps)
    : sms_(std::max<std::int64_t>(sms, 1)),
      gemm_keeps_(gemm_keeps),
      memory_bound_keeps_(memory_bound_keeps) {
    ORRERY_ASSERT(gemm_keeps > 0.0 && memory_bound_keeps > 0.0, "a kernel keeps some of its speed");
}

std::int64_t Contention::slowdown(bool is_memory_bound, std::int64_t sms_taken) const {
    ORRERY_ASSERT(sms_taken >= 0, "a collective cannot hold fewer than no SMs");
    if (sms_taken == 0) {
        return kOne;
    }
    double speed = is_memory_bound ? memory_bound_keeps_ : gemm_keeps_;
    if (!is_memory_bound) {
        const double taken = static_cast<double>(sms_taken) / static_cast<double>(sms_);
        speed *= 1.0 - std::min(taken, 0.95);
    }
    return std::max(kOne,
                    static_cast<std::int64_t>(std::llround(static_cast<double>(kOne) / speed)));
}

}  // namespace orrery
