// SPDX-License-Identifier: Apache-2.0
#include "model/operator_parts.hpp"

#include "base/assert.hpp"

#include <utility>

namespace orrery {

RankShape rank_shape(const Transformer& model, const Training& training, const LocalShape& shape) {
    const std::int64_t t = shape.tensor;
    ORRERY_ASSERT(t >= 1 && model.heads % t == 0 && model.kv_heads % t == 0,
                  "the plan's rules make tensor divide the heads");
    ORRERY_ASSERT(
        model.ffn_hidden % t == 0 && shape.padded_vocab % t == 0,
        "the plan's rules make tensor divide the FFN, padding makes it divide the vocabulary");
    ORRERY_ASSERT(shape.padded_vocab >= model.vocab, "padding only adds rows");
    ORRERY_ASSERT(training.precision == Precision::Bf16 || training.precision == Precision::Fp16,
                  "the reader refuses precisions whose saved tensors are not listed");

    RankShape rank;
    rank.batch = shape.batch;
    rank.sequence = shape.sequence;
    rank.tokens = shape.batch * shape.sequence;
    rank.rows = shape.sequence_parallel ? (rank.tokens + t - 1) / t : rank.tokens;
    rank.tensor = t;
    rank.hidden = model.hidden;
    rank.heads = model.heads / t;
    rank.kv_heads = model.kv_heads / t;
    rank.head_dim = model.head_dim;
    rank.ffn = model.ffn_hidden / t;
    rank.vocab = shape.padded_vocab / t;
    rank.dtype = training.precision == Precision::Fp16 ? Dtype::Fp16 : Dtype::Bf16;
    rank.main_gradient_bytes = 0;
    if (training.recipe == Recipe::Fp32MainGrads) {
        rank.main_gradient_bytes = shape.reduces_in_fp32 ? 4 : 2;
    }
    return rank;
}

KernelSpec memory_bound(Dtype dtype, std::string op, KernelPass pass, MatrixShape shape,
                        Traffic traffic) {
    return MemoryBoundKernel{.op = std::move(op),
                             .pass = pass,
                             .rows = shape.rows,
                             .width = shape.width,
                             .dtype = dtype,
                             .read = Bytes(static_cast<double>(traffic.read)),
                             .written = Bytes(static_cast<double>(traffic.written))};
}

void add_linear(Operator& op, const RankShape& rank, LinearShape shape) {
    op.forward.push_back(GemmKernel{.m = rank.tokens,
                                    .n = shape.out,
                                    .k = shape.in,
                                    .dtype = rank.dtype,
                                    .layout = GemmLayout::TN});
    op.input_gradient.push_back(GemmKernel{.m = rank.tokens,
                                           .n = shape.in,
                                           .k = shape.out,
                                           .dtype = rank.dtype,
                                           .layout = GemmLayout::NN});
    op.weight_gradient.push_back(GemmKernel{.m = shape.out,
                                            .n = shape.in,
                                            .k = rank.tokens,
                                            .dtype = rank.dtype,
                                            .layout = GemmLayout::NT,
                                            .accumulate = rank.main_gradient_bytes == 4});
    if (rank.main_gradient_bytes == 0) {
        op.gradient_accumulation.push_back(
            memory_bound(rank.dtype, "gradient_add", KernelPass::Backward,
                         {.rows = shape.out, .width = shape.in},
                         {.read = 4 * shape.out * shape.in, .written = 2 * shape.out * shape.in}));
    }
}

Weight plain_weight(std::string name, std::int64_t elements, bool is_split) {
    return {.name = std::move(name),
            .elements = elements,
            .is_split = is_split,
            .padded_elements = elements};
}

void add_vector_weight(Operator& op, const RankShape& rank, Weight weight,
                       std::int64_t local_elements) {
    op.weights.push_back(std::move(weight));
    const std::int64_t main = rank.main_gradient_bytes;
    const std::int64_t sum = main > 0 ? main : 2;
    auto& kernels = main > 0 ? op.weight_gradient : op.gradient_accumulation;
    kernels.push_back(memory_bound(
        rank.dtype, "gradient_add", KernelPass::Backward, {.rows = 1, .width = local_elements},
        {.read = (2 + sum) * local_elements, .written = sum * local_elements}));
}

void add_bias(Operator& op, const RankShape& rank, Weight weight, MatrixShape shape) {
    op.weight_gradient.push_back(
        memory_bound(rank.dtype, "bias_grad", KernelPass::Backward, shape,
                     {.read = 2 * shape.rows * shape.width, .written = 2 * shape.width}));
    add_vector_weight(op, rank, std::move(weight), shape.width);
}

Operator norm_operator(const Transformer& model, const Training& training, const RankShape& rank,
                       const NormUse& use) {
    const bool is_layer_norm = model.norm == NormKind::LayerNorm;
    const char* word = is_layer_norm ? "layer_norm" : "rms_norm";
    const std::int64_t vectors = is_layer_norm ? 2 : 1;  // scale, and shift
    const std::int64_t statistics = 4 * vectors;         // fp32 rsigma, and mu, of a token
    const std::int64_t h = rank.hidden;
    const MatrixShape shape{.rows = rank.rows, .width = h};
    const std::int64_t tensor = 2 * rank.rows * h;

    Operator op;
    op.kind = use.kind;
    op.name = use.name;
    op.split = TensorSplit::Sequence;
    op.forward.push_back(memory_bound(
        rank.dtype, word, KernelPass::Forward, shape,
        {.read = tensor + 2 * vectors * h, .written = tensor + statistics * rank.rows}));
    // The gradients of scale and shift come out of the same kernel.
    op.input_gradient.push_back(
        memory_bound(rank.dtype, word, KernelPass::Backward, shape,
                     {.read = 2 * tensor + statistics * rank.rows + 2 * vectors * h,
                      .written = tensor + 2 * vectors * h}));
    if (use.joins_residual) {
        op.input_gradient.push_back(memory_bound(rank.dtype, "residual_add", KernelPass::Backward,
                                                 shape, {.read = 2 * tensor, .written = tensor}));
    }
    add_vector_weight(op, rank, plain_weight("scale", h, false), h);
    if (is_layer_norm) {
        add_vector_weight(op, rank, plain_weight("shift", h, false), h);
    }
    op.saved.push_back({.name = use.name + ".input", .bytes = 2 * rank.tokens * h});
    // arXiv 2205.05198 §4.1 counts a layer norm's input only; its list is that of unfused
    // attention.
    if (training.attention == AttentionImpl::Flash) {
        op.saved.push_back({.name = use.name + ".statistics", .bytes = statistics * rank.tokens});
    }
    op.output_bytes = 2 * rank.tokens * h;
    op.output_is_kept = true;
    return op;
}

Operator residual_operator(const Transformer& model, const RankShape& rank, OperatorKind kind,
                           bool has_bias) {
    const bool has_dropout = model.dropout > 0.0;
    const MatrixShape shape{.rows = rank.rows, .width = rank.hidden};
    const std::int64_t elements = rank.rows * rank.hidden;

    Operator op;
    op.kind = kind;
    op.name = kind == OperatorKind::AttentionResidual ? "attention_residual" : "mlp_residual";
    op.split = TensorSplit::Sequence;
    op.forward.push_back(memory_bound(rank.dtype,
                                      has_dropout || has_bias ? "bias_dropout_add" : "residual_add",
                                      KernelPass::Forward, shape,
                                      {.read = 4 * elements + (has_bias ? 2 * rank.hidden : 0),
                                       .written = 2 * elements + (has_dropout ? elements : 0)}));
    if (has_dropout) {
        op.input_gradient.push_back(memory_bound(rank.dtype, "bias_dropout_add",
                                                 KernelPass::Backward, shape,
                                                 {.read = 3 * elements, .written = 2 * elements}));
        op.saved.push_back({.name = op.name + ".mask", .bytes = rank.tokens * rank.hidden});
    }
    op.output_bytes = 2 * rank.tokens * rank.hidden;
    op.output_is_kept = true;
    return op;
}

}  // namespace orrery
