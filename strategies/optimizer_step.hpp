// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "strategies/data_parallel.hpp"
#include "strategies/stage.hpp"
#include "strategies/stage_writer.hpp"

#include <cstdint>

namespace orrery {

/// Elements of a stage that the optimizer and the gradient buffer see.
struct OptimizerShard {
    std::int64_t gradients = 0;  ///< whole buffer, padding included
    std::int64_t elements =
        0;  ///< what this rank steps: all of it, or 1/D with the distributed optimizer
};

[[nodiscard]] OptimizerShard optimizer_shard(const Job& job,
                                             const std::vector<GradientBuffer>& buffers);

/// Writes the end of the step, in Megatron's order: what is left of the gradient reductions; the
/// tensor-parallel reduction of gradients that each rank has a part of (norms, biases after a
/// reduction, q/k norms); the reduction of tied embeddings between first and last stage; gradient
/// norm, a 4-byte AllReduce over all ranks, and the host's wait for it; clipping; the optimizer;
/// the gather of parameters where it does not run under the next forward; zeroing of the gradient
/// buffer. Source: Megatron-LM core/distributed/finalize_model_grads.py,
/// core/optimizer/{optimizer,clip_grads}.py.
void write_optimizer_step(const Job& job, const Stage& stage, const OptimizerShard& shard,
                          DataParallel& data, StageWriter& writer, CostTableBuilder& costs);

}  // namespace orrery
