// SPDX-License-Identifier: Apache-2.0
// Word embedding (vocabulary-parallel), learned positions, dropout.
// Source: Megatron-LM core/tensor_parallel/layers.py, core/models/common/embeddings.
#include "model/operator_parts.hpp"

#include <utility>

namespace orrery {

namespace {

constexpr std::int64_t kIdBytes = 8;  // int64 token and position ids

Operator embedding_operator(const char* name, TensorSplit split, std::int64_t output_bytes) {
    Operator op;
    op.kind = OperatorKind::Embedding;
    op.name = name;
    op.split = split;
    op.output_bytes = output_bytes;
    return op;
}

/// The lookup of `shape.rows` ids, and the scattered sum into a table of gradients that is zeroed
/// first.
void add_lookup(Operator& op, const RankShape& rank, MatrixShape shape, Weight weight,
                std::int64_t local_elements) {
    const std::int64_t tensor = 2 * shape.rows * shape.width;
    const std::int64_t ids = kIdBytes * shape.rows;
    op.forward.push_back(memory_bound(rank.dtype, "embedding", KernelPass::Forward, shape,
                                      {.read = ids + tensor, .written = tensor}));
    op.weight_gradient.push_back(memory_bound(rank.dtype, "memset", KernelPass::Backward,
                                              {.rows = 1, .width = local_elements},
                                              {.read = 0, .written = 2 * local_elements}));
    op.weight_gradient.push_back(memory_bound(rank.dtype, "embedding", KernelPass::Backward, shape,
                                              {.read = ids + 2 * tensor, .written = tensor}));
    add_vector_weight(op, rank, std::move(weight), local_elements);
}

Operator word_operator(const Transformer& model, const RankShape& rank) {
    const std::int64_t h = rank.hidden;
    Operator op =
        embedding_operator("word_embedding", TensorSplit::Vocabulary, 2 * rank.tokens * h);
    const Weight table{.name = "weight",
                       .elements = model.vocab * h,
                       .is_split = true,
                       .padded_elements = rank.vocab * rank.tensor * h};
    const MatrixShape shape{.rows = rank.tokens, .width = h};
    add_lookup(op, rank, shape, table, rank.vocab * h);
    if (rank.tensor > 1) {
        // Tokens of other ranks' rows become zero before the sum over ranks; (t−1)/t of them on
        // average.
        const std::int64_t tensor = 2 * rank.tokens * h;
        op.forward.push_back(
            memory_bound(rank.dtype, "masked_fill", KernelPass::Forward, shape,
                         {.read = rank.tokens, .written = tensor - tensor / rank.tensor}));
    }
    op.saved.push_back({.name = "word_embedding.token_ids",
                        .bytes = kIdBytes * rank.tokens,
                        .region = Region::Replicated});
    return op;
}

Operator position_operator(const Transformer& model, const RankShape& rank) {
    const std::int64_t h = rank.hidden;
    Operator op =
        embedding_operator("position_embedding", TensorSplit::Sequence, 2 * rank.tokens * h);
    const MatrixShape shape{.rows = rank.rows, .width = h};
    const std::int64_t elements = model.max_positions * h;
    add_lookup(op, rank, shape, plain_weight("weight", elements, false), elements);
    const std::int64_t tensor = 2 * rank.rows * h;
    op.forward.push_back(memory_bound(rank.dtype, "residual_add", KernelPass::Forward, shape,
                                      {.read = 2 * tensor, .written = tensor}));
    op.saved.push_back({.name = "position_embedding.position_ids",
                        .bytes = kIdBytes * rank.tokens,
                        .region = Region::Replicated});
    return op;
}

Operator dropout_operator(const RankShape& rank) {
    const std::int64_t h = rank.hidden;
    const std::int64_t elements = rank.rows * h;
    const MatrixShape shape{.rows = rank.rows, .width = h};
    Operator op =
        embedding_operator("embedding_dropout", TensorSplit::Sequence, 2 * rank.tokens * h);
    op.forward.push_back(memory_bound(rank.dtype, "dropout", KernelPass::Forward, shape,
                                      {.read = 2 * elements, .written = 3 * elements}));
    op.input_gradient.push_back(memory_bound(rank.dtype, "dropout", KernelPass::Backward, shape,
                                             {.read = 3 * elements, .written = 2 * elements}));
    op.saved.push_back({.name = "embedding_dropout.mask", .bytes = rank.tokens * h});
    return op;
}

}  // namespace

std::vector<Operator> embedding_operators(const Transformer& model, const Training& training,
                                          const LocalShape& shape) {
    const RankShape rank = rank_shape(model, training, shape);
    std::vector<Operator> operators{word_operator(model, rank)};
    if (model.position == PositionKind::Learned) {
        operators.push_back(position_operator(model, rank));
    }
    if (model.dropout > 0.0) {
        operators.push_back(dropout_operator(rank));
    }
    // The first layer's norm keeps what leaves the embedding.
    operators.back().output_is_kept = true;
    return operators;
}

}  // namespace orrery
