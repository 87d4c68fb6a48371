// SPDX-License-Identifier: Apache-2.0
// Final norm, vocabulary projection, cross-entropy on logits [T, V_padded/t].
#include "model/operator_parts.hpp"

namespace orrery {

namespace {

Operator projection_operator(const Transformer& model, const RankShape& rank) {
    Operator op;
    op.kind = OperatorKind::VocabProjection;
    op.name = "vocab_projection";
    op.split = TensorSplit::Column;
    add_linear(op, rank, {.in = rank.hidden, .out = rank.vocab});
    if (!model.tied_embeddings) {
        op.weights.push_back({.name = "weight",
                              .elements = model.vocab * model.hidden,
                              .is_split = true,
                              .padded_elements = rank.vocab * rank.tensor * model.hidden});
    }
    op.saved.push_back({.name = "vocab_projection.input", .bytes = 2 * rank.tokens * rank.hidden});
    op.output_bytes = 2 * rank.tokens * rank.vocab * rank.tensor;
    op.output_region = Region::Tensor;
    return op;
}

/// Adds kernels over this rank's logits; `read` and `written` are bytes per logit, 0 where only one
/// number a token is written.
class LogitKernels {
  public:
    LogitKernels(Operator& op, const RankShape& rank) : op_(op), rank_(rank) {}

    void forward(const char* word, Traffic per_logit) const {
        op_.forward.push_back(kernel(word, KernelPass::Forward, per_logit));
    }

    void backward(const char* word, Traffic per_logit) const {
        op_.input_gradient.push_back(kernel(word, KernelPass::Backward, per_logit));
    }

  private:
    [[nodiscard]] KernelSpec kernel(const char* word, KernelPass pass, Traffic per_logit) const {
        const MatrixShape shape{.rows = rank_.tokens, .width = rank_.vocab};
        const std::int64_t logits = shape.rows * shape.width;
        const std::int64_t token_values = 4 * shape.rows;
        const auto bytes = [&](std::int64_t each) {
            return each > 0 ? each * logits : token_values;
        };
        return memory_bound(rank_.dtype, word, pass, shape,
                            {.read = bytes(per_logit.read), .written = bytes(per_logit.written)});
    }

    Operator& op_;
    const RankShape& rank_;
};

/// Megatron-LM core/tensor_parallel/cross_entropy.py, run eagerly. With tensor parallelism the
/// ranks reduce after the second kernel (largest logit), the third (predicted logit) and the fifth
/// (sum).
void add_unfused(const LogitKernels& kernels) {
    kernels.forward("cast", {.read = 2, .written = 4});
    kernels.forward("cross_entropy", {.read = 4, .written = 0});  // largest
    kernels.forward("cross_entropy", {.read = 4, .written = 4});  // subtract it
    kernels.forward("cross_entropy", {.read = 4, .written = 4});  // exponentials, in place
    kernels.forward("cross_entropy", {.read = 4, .written = 0});  // their sum
    kernels.forward("cross_entropy", {.read = 4, .written = 4});  // softmax, in place
    kernels.backward("cross_entropy", {.read = 4, .written = 4});
    kernels.backward("cast", {.read = 4, .written = 2});
}

/// Megatron-LM core/fusions/fused_cross_entropy.py: reduces after the first kernel (largest) and
/// the second (predicted and sum).
void add_fused(const LogitKernels& kernels) {
    kernels.forward("cross_entropy", {.read = 2, .written = 4});
    kernels.forward("cross_entropy", {.read = 4, .written = 4});
    kernels.forward("cross_entropy", {.read = 4, .written = 4});
    kernels.backward("cross_entropy", {.read = 4, .written = 2});
}

/// TransformerEngine triton/cross_entropy.py: one online pass, a gather of three numbers a token,
/// and a pass that writes the gradient, so backward only scales it.
void add_vocab_parallel(const LogitKernels& kernels) {
    kernels.forward("cross_entropy", {.read = 2, .written = 0});
    kernels.forward("cross_entropy", {.read = 2, .written = 4});
    kernels.backward("cross_entropy", {.read = 4, .written = 2});
}

Operator loss_operator(const Training& training, const RankShape& rank) {
    Operator op;
    op.kind = OperatorKind::CrossEntropyLoss;
    op.name = "cross_entropy";
    op.split = TensorSplit::Tensor;
    const LogitKernels kernels(op, rank);
    const std::int64_t logits = rank.tokens * rank.vocab * rank.tensor;
    const bool keeps_gradient = training.cross_entropy == CrossEntropy::VocabParallel;
    switch (training.cross_entropy) {
        case CrossEntropy::Unfused:
            add_unfused(kernels);
            break;
        case CrossEntropy::Fused:
            add_fused(kernels);
            break;
        case CrossEntropy::VocabParallel:
            add_vocab_parallel(kernels);
            break;
    }
    op.saved.push_back({.name = keeps_gradient ? "cross_entropy.gradient" : "cross_entropy.softmax",
                        .bytes = 4 * logits,
                        .region = Region::Tensor});
    if (!keeps_gradient) {
        // A byte for "this label is another rank's" and the label in this rank's rows (int64).
        op.saved.push_back({.name = "cross_entropy.labels",
                            .bytes = 9 * rank.tokens,
                            .region = Region::Replicated});
    }
    op.output_bytes = 4 * rank.tokens;
    op.output_region = Region::Replicated;
    return op;
}

}  // namespace

std::vector<Operator> head_operators(const Transformer& model, const Training& training,
                                     const LocalShape& shape) {
    const RankShape rank = rank_shape(model, training, shape);
    const NormUse final_norm{
        .kind = OperatorKind::FinalNorm, .name = "final_norm", .joins_residual = false};
    return {norm_operator(model, training, rank, final_norm), projection_operator(model, rank),
            loss_operator(training, rank)};
}

}  // namespace orrery
