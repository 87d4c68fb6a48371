// SPDX-License-Identifier: Apache-2.0
// Symbols as in transformer.hpp; T = s·b/c tokens a rank computes at once before tensor
// parallelism.
#pragma once

#include "base/units.hpp"
#include "model/kernel.hpp"
#include "model/training.hpp"
#include "model/transformer.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace orrery {

/// Where along the tensor axis an activation lives. The model only says which; strategies divide.
enum class Region : std::uint8_t {
    Sequence,   ///< [s, b, h] between the blocks: whole on every rank, or s/t rows with sequence
                ///< parallelism
    Tensor,     ///< split over heads, FFN columns or vocabulary: 1/t on every rank
    Replicated  ///< whole on every rank of the tensor group
};

/// How tensor parallelism cuts an operator.
enum class TensorSplit : std::uint8_t {
    Column,     ///< weight [n/t, k]: its input must be whole (gathered from Sequence); output in
                ///< Tensor
    Row,        ///< weight [n, k/t]: its output is a partial sum, to be reduced into Sequence
    Tensor,     ///< works inside the Tensor region: heads or columns /t
    Sequence,   ///< works inside the Sequence region: rows /t with sequence parallelism
    Vocabulary  ///< embedding: rows of the table /t; output is a partial sum, reduced into Sequence
};

/// A tensor that an operator keeps for its backward. `bytes` is for the whole T tokens and t = 1.
struct SavedTensor {
    std::string name;
    std::int64_t bytes = 0;
    Region region = Region::Sequence;
    /// Lives inside core attention (scores, probabilities, masks, log-sum-exp): selective
    /// recomputation drops it. The attention's output is not: the projection needs it.
    bool is_core_attention = false;
};

/// Weights of an operator, in elements, at t = 1 and unpadded vocabulary.
struct Weight {
    std::string name;
    std::int64_t elements = 0;
    bool is_split = false;  ///< /t by tensor parallelism (else replicated over the tensor group)
    /// `elements` with LocalShape::padded_vocab rows: what ranks hold together. Differs for
    /// vocabularies.
    std::int64_t padded_elements = 0;
};

/// The shape in which one kernel of an operator runs for given local tokens.
/// Kernels are produced for a rank: `tensor` = t, rows of the Sequence region = T/t with sequence
/// parallelism, T without.
struct LocalShape {
    std::int64_t batch = 1;         ///< b
    std::int64_t sequence = 1;      ///< s/c
    std::int64_t tensor = 1;        ///< t
    std::int64_t padded_vocab = 0;  ///< whole padded vocabulary (before /t)
    bool sequence_parallel = false;
    bool reduces_in_fp32 = true;  ///< main gradients (Recipe::Fp32MainGrads) are fp32, else 16-bit
};

enum class OperatorKind : std::uint8_t {
    Embedding,
    InputNorm,
    QkvProjection,
    QkNorm,
    Rotary,
    CoreAttention,
    OutputProjection,
    AttentionResidual,  ///< bias, dropout, add
    MlpNorm,
    MlpUp,
    Activation,
    MlpDown,
    MlpResidual,
    FinalNorm,
    VocabProjection,
    CrossEntropyLoss
};

/// What one operator asks of a rank, forward and backward. A kind may occur more than once: unfused
/// attention is four operators of kind CoreAttention (scores, softmax, dropout, context), and the
/// embedding is up to three (word, position, dropout).
struct Operator {
    OperatorKind kind = OperatorKind::Embedding;
    std::string name;  ///< "qkv", "core_attention", …
    TensorSplit split = TensorSplit::Sequence;
    std::vector<KernelSpec> forward;          ///< kernels, in order, in this rank's shape
    std::vector<KernelSpec> input_gradient;   ///< kernels of B; with them those that need both
    std::vector<KernelSpec> weight_gradient;  ///< kernels of W (empty without weights)
    /// What W adds from the second micro-batch of a step on, where autograd sums gradients itself.
    std::vector<KernelSpec> gradient_accumulation;
    std::vector<SavedTensor> saved;  ///< kept from forward to backward
    std::vector<Weight> weights;
    std::int64_t output_bytes = 0;  ///< of its main output, whole (t = 1)
    /// Where the output lives at last: of Row and Vocabulary splits after the reduction of the
    /// partial sums, which are whole on every rank until then.
    Region output_region = Region::Sequence;
    bool output_is_kept =
        false;  ///< its main output is among the saved tensors of this or a later operator
};

/// Operators in forward order. Every list is in this rank's shape (LocalShape); saved and output
/// bytes are whole and divided by `local_bytes`. Requires: t divides heads, kv_heads, ffn_hidden
/// and padded_vocab (the plan's rules say so), precision Bf16 or Fp16, padded_vocab >= vocab.
[[nodiscard]] std::vector<Operator> embedding_operators(const Transformer& model,
                                                        const Training& training,
                                                        const LocalShape& shape);
[[nodiscard]] std::vector<Operator> layer_operators(const Transformer& model,
                                                    const Training& training,
                                                    const LocalShape& shape, std::int64_t layer);
/// Final norm, vocabulary projection and loss. With tied embeddings the projection lists no weight:
/// it uses the embedding's, of which a last stage apart from the first holds a copy.
[[nodiscard]] std::vector<Operator> head_operators(const Transformer& model,
                                                   const Training& training,
                                                   const LocalShape& shape);

/// Bytes of a whole tensor that this rank holds, in its region.
[[nodiscard]] std::int64_t local_bytes(std::int64_t whole_bytes, Region region,
                                       const LocalShape& shape);

/// Sum of what one layer keeps for backward on this rank, by the lists above.
/// Source: reference tables of Megatron-Core with Transformer Engine (flash), Korthikanti et al.
/// arXiv 2205.05198 §4 (unfused attention with dropout).
[[nodiscard]] std::int64_t saved_bytes(const std::vector<Operator>& operators,
                                       const LocalShape& shape);

/// Parameters that this rank holds of these operators: split weights /t (vocabularies padded),
/// others whole.
[[nodiscard]] std::int64_t local_parameters(const std::vector<Operator>& operators,
                                            const LocalShape& shape);

}  // namespace orrery
