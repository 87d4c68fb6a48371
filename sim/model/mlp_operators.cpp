// SPDX-License-Identifier: Apache-2.0
#include "model/operator_parts.hpp"

namespace orrery {

namespace {

/// fc1, with gate and up as one product of 2f columns.
Operator up_operator(const Transformer& model, const RankShape& rank, std::int64_t columns) {
    Operator op;
    op.kind = OperatorKind::MlpUp;
    op.name = "mlp_up";
    op.split = TensorSplit::Column;
    add_linear(op, rank, {.in = rank.hidden, .out = columns * rank.ffn});
    op.weights.push_back(plain_weight("weight", columns * model.ffn_hidden * model.hidden, true));
    if (model.mlp_bias) {
        add_bias(op, rank, plain_weight("bias", columns * model.ffn_hidden, true),
                 {.rows = rank.tokens, .width = columns * rank.ffn});
    }
    op.saved.push_back({.name = "mlp_up.input", .bytes = 2 * rank.tokens * rank.hidden});
    op.output_bytes = 2 * rank.tokens * columns * model.ffn_hidden;
    op.output_region = Region::Tensor;
    op.output_is_kept = true;
    return op;
}

/// SwiGLU or GELU. A bias of fc1 is added here (fused).
Operator activation_operator(const Transformer& model, const RankShape& rank,
                             std::int64_t columns) {
    const char* word = model.mlp == MlpKind::SwiGlu ? "swiglu" : "gelu";
    const MatrixShape shape{.rows = rank.tokens, .width = rank.ffn};
    const std::int64_t tensor = 2 * rank.tokens * rank.ffn;
    const std::int64_t bias = model.mlp_bias ? 2 * columns * rank.ffn : 0;

    Operator op;
    op.kind = OperatorKind::Activation;
    op.name = "activation";
    op.split = TensorSplit::Tensor;
    op.forward.push_back(memory_bound(rank.dtype, word, KernelPass::Forward, shape,
                                      {.read = columns * tensor + bias, .written = tensor}));
    op.input_gradient.push_back(
        memory_bound(rank.dtype, word, KernelPass::Backward, shape,
                     {.read = (columns + 1) * tensor + bias, .written = columns * tensor}));
    op.saved.push_back({.name = "activation.input",
                        .bytes = 2 * rank.tokens * columns * model.ffn_hidden,
                        .region = Region::Tensor});
    op.output_bytes = 2 * rank.tokens * model.ffn_hidden;
    op.output_region = Region::Tensor;
    op.output_is_kept = true;
    return op;
}

Operator down_operator(const Transformer& model, const RankShape& rank) {
    Operator op;
    op.kind = OperatorKind::MlpDown;
    op.name = "mlp_down";
    op.split = TensorSplit::Row;
    add_linear(op, rank, {.in = rank.ffn, .out = rank.hidden});
    op.weights.push_back(plain_weight("weight", model.ffn_hidden * model.hidden, true));
    if (model.mlp_bias) {
        // Added after the reduction, so its gradient sums the rows of the Sequence region.
        add_bias(op, rank, plain_weight("bias", model.hidden, false),
                 {.rows = rank.rows, .width = rank.hidden});
    }
    op.saved.push_back({.name = "mlp_down.input",
                        .bytes = 2 * rank.tokens * model.ffn_hidden,
                        .region = Region::Tensor});
    op.output_bytes = 2 * rank.tokens * rank.hidden;
    return op;
}

}  // namespace

void append_mlp(std::vector<Operator>& operators, const Transformer& model,
                const Training& training, const RankShape& rank) {
    const std::int64_t columns = model.mlp == MlpKind::SwiGlu ? 2 : 1;
    operators.push_back(
        norm_operator(model, training, rank, {.kind = OperatorKind::MlpNorm, .name = "mlp_norm"}));
    operators.push_back(up_operator(model, rank, columns));
    operators.push_back(activation_operator(model, rank, columns));
    operators.push_back(down_operator(model, rank));
    operators.push_back(residual_operator(model, rank, OperatorKind::MlpResidual, model.mlp_bias));
}

}  // namespace orrery
