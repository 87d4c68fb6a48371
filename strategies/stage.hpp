// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cost/cost_table.hpp"
#include "cost/profile.hpp"
#include "model/operators.hpp"
#include "plan/plan.hpp"
#include "program/builder.hpp"
#include "strategies/schedule/schedule.hpp"
#include "strategies/tensor.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace orrery {

/// What every strategy reads: the inputs, resolved.
struct Job {
    const Transformer* model = nullptr;
    const Training* training = nullptr;
    const Plan* plan = nullptr;
    const FrameworkProfile* framework = nullptr;
    LocalShape shape;
    PipelineOrder order;

    /// Ranks that a dense gradient is reduced over: data × context.
    [[nodiscard]] std::int64_t gradient_ranks() const { return plan->data * plan->context; }
};

/// An operator with its kernels priced, its tensors and communications interned for one Program.
struct StageOperator {
    OperatorKind kind = OperatorKind::Embedding;
    NameId name;
    std::vector<CostId> forward;
    std::vector<CostId> input_gradient;
    std::vector<CostId> weight_gradient;
    std::vector<CostId> gradient_accumulation;  ///< from the second micro-batch on
    bool is_linear = false;  ///< its weight gradient is a pass of its own where B and W are split
    std::vector<TensorId> saved;  ///< kept from forward to backward
    /// Kept as well: attention's output, which the projection's weight gradient reads too.
    std::vector<TensorId> saved_for_next_weights;
    std::vector<TensorId> core_attention;  ///< kept as well, but dropped by selective recomputation
    TensorId output;
    bool output_is_kept = false;     ///< among the saved tensors of this or a later operator
    TensorId input_gradient_tensor;  ///< where it has kernels; else the gradient passes through
    TensorComms comms;
    TensorId whole;  ///< a buffer of X: gathered, or before its ReduceScatter
};

/// A weight as one rank holds it, padded vocabulary included.
struct Parameter {
    std::int64_t elements = 0;
    /// Whole on every rank of the tensor group, its gradient a sum over that rank's rows (with
    /// sequence parallelism) or heads (q/k norm) only: it must be reduced over the tensor group.
    bool has_partial_gradient = false;
    std::size_t block = 0;  ///< where in its chunk
    std::size_t op = 0;
};

/// The embedding, one layer, or the head.
struct Block {
    std::int64_t layer = -1;  ///< model-wide; −1: not a layer
    std::vector<StageOperator> operators;
};

/// One virtual stage.
struct Chunk {
    std::int64_t virtual_stage = 0;
    bool is_first = false;  ///< of the whole model: has the embedding
    bool is_last = false;   ///< has the head and the loss
    std::vector<Block> blocks;
    std::vector<Parameter> parameters;  ///< in model order
};

/// What the ranks of one pipeline coordinate hold.
struct Stage {
    std::int64_t rank = 0;
    std::vector<Chunk> chunks;
};

/// Lays the model's layers on the virtual stages of pipeline rank `rank` (plan.stage_layers,
/// embedding first, head last) and prices their kernels.
[[nodiscard]] Stage build_stage(const Job& job, std::int64_t rank, ProgramBuilder& builder,
                                CostTableBuilder& costs);

/// Parameters of a chunk on one rank.
[[nodiscard]] std::int64_t num_parameters(const Chunk& chunk);

}  // namespace orrery
