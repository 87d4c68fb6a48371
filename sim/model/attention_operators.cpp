// SPDX-License-Identifier: Apache-2.0
// Attention of one layer: norm, qkv, q/k norm, rotary, core attention, output projection, residual.
#include "model/operator_parts.hpp"

namespace orrery {

namespace {

/// A layer's attention: what its operators need to know together.
struct AttentionContext {
    const Transformer& model;
    const Training& training;
    const RankShape& rank;
    std::int64_t layer;

    [[nodiscard]] bool is_flash() const { return training.attention == AttentionImpl::Flash; }

    [[nodiscard]] bool has_rotary() const { return model.position == PositionKind::Rotary; }

    /// q, k and v become tensors of their own: rotary and norms write new q and k, and grouped
    /// heads do not have a packed layout that an attention kernel reads. Else they stay views of
    /// the packed product.
    [[nodiscard]] bool copies_qkv() const {
        return has_rotary() || model.qk_norm || model.heads != model.kv_heads;
    }

    /// Bytes of all tokens of a tensor of `heads` heads, and of this rank's share.
    [[nodiscard]] std::int64_t whole(std::int64_t heads) const {
        return 2 * rank.tokens * heads * model.head_dim;
    }

    [[nodiscard]] std::int64_t local(std::int64_t heads) const {
        return whole(heads) / rank.tensor;
    }

    [[nodiscard]] KernelSpec kernel(const char* op, KernelPass pass, MatrixShape shape,
                                    Traffic traffic) const {
        return memory_bound(rank.dtype, op, pass, shape, traffic);
    }
};

Operator qkv_operator(const AttentionContext& c) {
    const std::int64_t heads = c.model.heads + 2 * c.model.kv_heads;
    const std::int64_t width = (c.rank.heads + 2 * c.rank.kv_heads) * c.rank.head_dim;

    Operator op;
    op.kind = OperatorKind::QkvProjection;
    op.name = "qkv";
    op.split = TensorSplit::Column;
    if (c.copies_qkv()) {
        // Packs the three gradients for the products.
        op.input_gradient.push_back(c.kernel("copy", KernelPass::Backward,
                                             {.rows = c.rank.tokens, .width = width},
                                             {.read = c.local(heads), .written = c.local(heads)}));
    }
    add_linear(op, c.rank, {.in = c.rank.hidden, .out = width});
    const std::int64_t columns = heads * c.model.head_dim;
    op.weights.push_back(plain_weight("weight", columns * c.model.hidden, true));
    if (c.model.qkv_bias) {
        add_bias(op, c.rank, plain_weight("bias", columns, true),
                 {.rows = c.rank.tokens, .width = width});
    }
    op.saved.push_back({.name = "qkv.input", .bytes = 2 * c.rank.tokens * c.rank.hidden});
    op.output_bytes = c.whole(heads);
    op.output_region = Region::Tensor;
    op.output_is_kept = !c.copies_qkv();
    return op;
}

/// Adds a kernel on q and one on k that reads and writes each element once (backward: norms read
/// the input again).
void add_query_and_key_kernels(Operator& op, const AttentionContext& c, const char* word,
                               bool by_head) {
    const std::int64_t d = c.rank.head_dim;
    for (const std::int64_t heads : {c.rank.heads, c.rank.kv_heads}) {
        const std::int64_t bytes = 2 * c.rank.tokens * heads * d;
        const MatrixShape shape = by_head ? MatrixShape{.rows = c.rank.tokens * heads, .width = d}
                                          : MatrixShape{.rows = c.rank.tokens, .width = heads * d};
        op.forward.push_back(
            c.kernel(word, KernelPass::Forward, shape, {.read = bytes, .written = bytes}));
        op.input_gradient.push_back(
            c.kernel(word, KernelPass::Backward, shape,
                     {.read = by_head ? 2 * bytes : bytes, .written = bytes}));
    }
}

/// RMSNorm over each query and key head. Keeps nothing of its own in the published lists (45.3·h
/// for Qwen3 32B): its input is not counted beside the q and k that attention keeps.
Operator qk_norm_operator(const AttentionContext& c) {
    Operator op;
    op.kind = OperatorKind::QkNorm;
    op.name = "qk_norm";
    op.split = TensorSplit::Tensor;
    add_query_and_key_kernels(op, c, "qk_norm", true);
    add_vector_weight(op, c.rank, plain_weight("q_scale", c.rank.head_dim, false), c.rank.head_dim);
    add_vector_weight(op, c.rank, plain_weight("k_scale", c.rank.head_dim, false), c.rank.head_dim);
    op.output_bytes = c.whole(c.model.heads + c.model.kv_heads);
    op.output_region = Region::Tensor;
    op.output_is_kept = !c.has_rotary();
    return op;
}

Operator rotary_operator(const AttentionContext& c) {
    Operator op;
    op.kind = OperatorKind::Rotary;
    op.name = "rotary";
    op.split = TensorSplit::Tensor;
    add_query_and_key_kernels(op, c, "rope", false);
    op.output_bytes = c.whole(c.model.heads + c.model.kv_heads);
    op.output_region = Region::Tensor;
    op.output_is_kept = true;
    return op;
}

Operator core_operator(const char* name) {
    Operator op;
    op.kind = OperatorKind::CoreAttention;
    op.name = name;
    op.split = TensorSplit::Tensor;
    op.output_region = Region::Tensor;
    op.output_is_kept = true;
    return op;
}

SavedTensor saved_in_attention(const char* name, std::int64_t bytes, bool is_core) {
    return {.name = name, .bytes = bytes, .region = Region::Tensor, .is_core_attention = is_core};
}

Operator flash_attention_operator(const AttentionContext& c) {
    Operator op = core_operator("core_attention");
    if (c.copies_qkv()) {
        const std::int64_t bytes = c.local(c.model.kv_heads);
        op.forward.push_back(
            c.kernel("copy", KernelPass::Forward,
                     {.rows = c.rank.tokens, .width = c.rank.kv_heads * c.rank.head_dim},
                     {.read = bytes, .written = bytes}));
    }
    const bool sees_less = has_window(c.model, c.layer) && c.model.sliding_window < c.rank.sequence;
    AttentionKernel kernel{.batch = c.rank.batch,
                           .seq = c.rank.sequence,
                           .heads_q = c.rank.heads,
                           .heads_kv = c.rank.kv_heads,
                           .head_dim_qk = c.rank.head_dim,
                           .head_dim_v = c.rank.head_dim,
                           .window = sees_less ? c.model.sliding_window : 0,
                           .causal = true,
                           .dtype = c.rank.dtype,
                           .pass = KernelPass::Forward};
    op.forward.push_back(kernel);
    kernel.pass = KernelPass::Backward;
    op.input_gradient.push_back(kernel);

    op.saved.push_back(saved_in_attention("core_attention.q", c.whole(c.model.heads), false));
    op.saved.push_back(saved_in_attention("core_attention.k", c.whole(c.model.kv_heads), false));
    op.saved.push_back(saved_in_attention("core_attention.v", c.whole(c.model.kv_heads), false));
    op.saved.push_back(saved_in_attention("core_attention.output", c.whole(c.model.heads), false));
    op.saved.push_back(
        saved_in_attention("core_attention.log_sum_exp", 4 * c.rank.tokens * c.model.heads, true));
    op.output_bytes = c.whole(c.model.heads);
    return op;
}

/// One product of unfused attention: b·a/t of [m, k]·[k, n].
GemmKernel head_product(const AttentionContext& c, std::int64_t n, std::int64_t k,
                        GemmLayout layout) {
    return {.m = c.rank.sequence,
            .n = n,
            .k = k,
            .batch = c.rank.batch * c.rank.heads,
            .dtype = c.rank.dtype,
            .layout = layout};
}

/// Copies grouped key or value heads once for each query head; backward sums them.
void add_head_expansion(Operator& op, const AttentionContext& c) {
    if (c.model.heads == c.model.kv_heads) {
        return;
    }
    const std::int64_t narrow = c.local(c.model.kv_heads);
    const std::int64_t wide = c.local(c.model.heads);
    const MatrixShape shape{.rows = c.rank.tokens, .width = c.rank.heads * c.rank.head_dim};
    op.forward.push_back(
        c.kernel("copy", KernelPass::Forward, shape, {.read = narrow, .written = wide}));
    op.input_gradient.push_back(
        c.kernel("copy", KernelPass::Backward, shape, {.read = wide, .written = narrow}));
}

/// Scores QKᵀ of every pair of positions: [b·a/t, s, s]; a mask hides the later ones, so nothing is
/// saved.
Operator scores_operator(const AttentionContext& c, std::int64_t score_bytes) {
    const std::int64_t s = c.rank.sequence;
    const std::int64_t d = c.rank.head_dim;
    Operator op = core_operator("attention_scores");
    op.input_gradient.push_back(head_product(c, d, s, GemmLayout::NN));
    op.input_gradient.push_back(head_product(c, d, s, GemmLayout::NT));
    add_head_expansion(op, c);
    op.forward.push_back(head_product(c, s, d, GemmLayout::TN));
    op.saved.push_back(saved_in_attention("core_attention.q", c.whole(c.model.heads), false));
    op.saved.push_back(saved_in_attention("core_attention.k", c.whole(c.model.heads), false));
    op.output_bytes = score_bytes;
    op.output_is_kept = false;
    return op;
}

Operator softmax_operator(const AttentionContext& c, std::int64_t score_bytes) {
    const MatrixShape shape{.rows = c.rank.batch * c.rank.heads * c.rank.sequence,
                            .width = c.rank.sequence};
    const std::int64_t local = score_bytes / c.rank.tensor;
    Operator op = core_operator("attention_softmax");
    op.forward.push_back(c.kernel("scaled_masked_softmax", KernelPass::Forward, shape,
                                  {.read = local, .written = local}));
    op.input_gradient.push_back(c.kernel("scaled_masked_softmax", KernelPass::Backward, shape,
                                         {.read = 2 * local, .written = local}));
    op.saved.push_back(saved_in_attention("core_attention.softmax", score_bytes, true));
    op.output_bytes = score_bytes;
    return op;
}

Operator attention_dropout_operator(const AttentionContext& c, std::int64_t score_bytes) {
    const MatrixShape shape{.rows = c.rank.batch * c.rank.heads * c.rank.sequence,
                            .width = c.rank.sequence};
    const std::int64_t local = score_bytes / c.rank.tensor;
    const std::int64_t mask = local / 2;
    Operator op = core_operator("attention_dropout");
    op.forward.push_back(
        c.kernel("dropout", KernelPass::Forward, shape, {.read = local, .written = local + mask}));
    op.input_gradient.push_back(
        c.kernel("dropout", KernelPass::Backward, shape, {.read = local + mask, .written = local}));
    op.saved.push_back(saved_in_attention("core_attention.dropout_mask", score_bytes / 2, true));
    op.saved.push_back(saved_in_attention("core_attention.dropout_output", score_bytes, true));
    op.output_bytes = score_bytes;
    return op;
}

/// Probabilities times values, laid out again as [s, b, a·d/t] for the projection.
Operator context_operator(const AttentionContext& c) {
    const std::int64_t s = c.rank.sequence;
    const std::int64_t d = c.rank.head_dim;
    const std::int64_t output = c.local(c.model.heads);
    Operator op = core_operator("attention_context");
    op.input_gradient.push_back(head_product(c, s, d, GemmLayout::TN));
    op.input_gradient.push_back(head_product(c, d, s, GemmLayout::NT));
    add_head_expansion(op, c);
    op.forward.push_back(head_product(c, d, s, GemmLayout::NN));
    op.forward.push_back(c.kernel("copy", KernelPass::Forward,
                                  {.rows = c.rank.tokens, .width = c.rank.heads * d},
                                  {.read = output, .written = output}));
    op.saved.push_back(saved_in_attention("core_attention.v", c.whole(c.model.heads), false));
    op.output_bytes = c.whole(c.model.heads);
    return op;
}

/// The list of arXiv 2205.05198 §4.1: softmax output 2as²b, dropout mask as²b and output 2as²b.
void append_unfused_attention(std::vector<Operator>& operators, const AttentionContext& c) {
    const std::int64_t score_bytes = 2 * c.rank.tokens * c.rank.sequence * c.model.heads;
    operators.push_back(scores_operator(c, score_bytes));
    operators.push_back(softmax_operator(c, score_bytes));
    if (c.model.dropout > 0.0) {
        operators.push_back(attention_dropout_operator(c, score_bytes));
    }
    operators.push_back(context_operator(c));
}

Operator output_operator(const AttentionContext& c) {
    Operator op;
    op.kind = OperatorKind::OutputProjection;
    op.name = "output_projection";
    op.split = TensorSplit::Row;
    add_linear(op, c.rank, {.in = c.rank.heads * c.rank.head_dim, .out = c.rank.hidden});
    op.weights.push_back(
        plain_weight("weight", c.model.heads * c.model.head_dim * c.model.hidden, true));
    if (c.model.projection_bias) {
        // Added after the reduction, so its gradient sums the rows of the Sequence region.
        add_bias(op, c.rank, plain_weight("bias", c.model.hidden, false),
                 {.rows = c.rank.rows, .width = c.rank.hidden});
    }
    if (!c.is_flash()) {
        // The flash kernel keeps its output for its own backward, so there it is counted already.
        op.saved.push_back(
            saved_in_attention("output_projection.input", c.whole(c.model.heads), false));
    }
    op.output_bytes = 2 * c.rank.tokens * c.rank.hidden;
    return op;
}

}  // namespace

void append_attention(std::vector<Operator>& operators, const Transformer& model,
                      const Training& training, const RankShape& rank, std::int64_t layer) {
    const AttentionContext c{.model = model, .training = training, .rank = rank, .layer = layer};
    operators.push_back(norm_operator(model, training, rank,
                                      {.kind = OperatorKind::InputNorm, .name = "input_norm"}));
    operators.push_back(qkv_operator(c));
    if (model.qk_norm) {
        operators.push_back(qk_norm_operator(c));
    }
    if (c.has_rotary()) {
        operators.push_back(rotary_operator(c));
    }
    if (c.is_flash()) {
        operators.push_back(flash_attention_operator(c));
    } else {
        append_unfused_attention(operators, c);
    }
    operators.push_back(output_operator(c));
    operators.push_back(
        residual_operator(model, rank, OperatorKind::AttentionResidual, model.projection_bias));
}

}  // namespace orrery
