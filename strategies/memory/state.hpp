// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/training.hpp"
#include "plan/plan.hpp"

#include <cstdint>

namespace orrery {

/// Bytes that a parameter costs, by copy (parameter + gradient + optimizer, Adam):
///
/// - Fp32MainGrads 2 + 4 + 12 (master, m, v), or 2 + 2 + 16 with 2-byte gradients (fp32 copy);
/// - Fp32Params 4 + 4 + 8;
/// - Classic 2 + 2 + 12;
/// - Pure 2 + 2 + 4.
///
/// A distributed optimizer holds `optimizer` for the rank's shard only: 18 becomes 6 + 12/D. SGD
/// with momentum has one moment where Adam has two. Source: Megatron-LM docs dist_optimizer.md,
/// training/theoretical_memory_usage.py; arXiv 1910.02054.
struct StateBytes {
    std::int64_t parameter = 0;
    std::int64_t gradient = 0;
    std::int64_t optimizer = 0;
};

[[nodiscard]] StateBytes state_bytes(const Training& training, Dtype grad_reduce_dtype);

/// Bytes that the optimizer's step moves through HBM for each parameter of the shard.
/// Adam with Fp32MainGrads reads gradient, master, m, v (16) and writes master, m, v and the
/// parameter (14).
struct StepTraffic {
    std::int64_t read = 0;
    std::int64_t written = 0;
};

[[nodiscard]] StepTraffic step_traffic(const Training& training, Dtype grad_reduce_dtype);

}  // namespace orrery
