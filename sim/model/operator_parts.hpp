// SPDX-License-Identifier: Apache-2.0
// What the lists of operators are built from; only the .cpp files of this folder include it.
#pragma once

#include "model/operators.hpp"

#include <cstdint>
#include <string>

namespace orrery {

/// A model's dimensions as one rank of the tensor group computes them.
struct RankShape {
    std::int64_t batch = 1;
    std::int64_t sequence = 1;
    std::int64_t tokens = 1;  ///< T = batch · sequence
    std::int64_t rows = 1;    ///< of the Sequence region: T/t with sequence parallelism, else T
    std::int64_t tensor = 1;
    std::int64_t hidden = 0;
    std::int64_t heads = 0;     ///< a/t
    std::int64_t kv_heads = 0;  ///< g/t
    std::int64_t head_dim = 0;
    std::int64_t ffn = 0;       ///< f/t
    std::int64_t vocab = 0;     ///< V_padded/t
    Dtype dtype = Dtype::Bf16;  ///< of activations and products: 2 bytes
    /// Of an element of the buffers that weight gradients are added into; 0: there are none,
    /// autograd sums 2-byte gradients.
    std::int64_t main_gradient_bytes = 4;
};

/// Requires: as layer_operators.
[[nodiscard]] RankShape rank_shape(const Transformer& model, const Training& training,
                                   const LocalShape& shape);

/// Shape of a kernel's main input.
struct MatrixShape {
    std::int64_t rows = 1;
    std::int64_t width = 1;
};

/// Bytes that a kernel moves.
struct Traffic {
    std::int64_t read = 0;
    std::int64_t written = 0;
};

[[nodiscard]] KernelSpec memory_bound(Dtype dtype, std::string op, KernelPass pass,
                                      MatrixShape shape, Traffic traffic);

/// A linear layer's width on this rank.
struct LinearShape {
    std::int64_t in = 0;
    std::int64_t out = 0;
};

/// The three products of a linear layer on [T, in]: forward TN, input gradient NN, weight gradient
/// NT.
void add_linear(Operator& op, const RankShape& rank, LinearShape shape);

/// A weight that no product accumulates: its gradient is added to the main gradient by a kernel of
/// its own (where there are main gradients). `local_elements` are this rank's. Source: Megatron-LM
/// core/distributed/distributed_data_parallel.py, backward hook.
void add_vector_weight(Operator& op, const RankShape& rank, Weight weight,
                       std::int64_t local_elements);

/// A bias and the reduction over `shape.rows` of its gradient.
void add_bias(Operator& op, const RankShape& rank, Weight weight, MatrixShape shape);

/// A weight whose vocabulary is not padded.
[[nodiscard]] Weight plain_weight(std::string name, std::int64_t elements, bool is_split);

/// RMSNorm or LayerNorm in the Sequence region. `joins_residual`: its input feeds the residual,
/// too, so that its backward adds two gradients. Saved: its input, and with flash attention's list
/// its statistics.
struct NormUse {
    OperatorKind kind = OperatorKind::InputNorm;
    std::string name;
    bool joins_residual = true;
};

[[nodiscard]] Operator norm_operator(const Transformer& model, const Training& training,
                                     const RankShape& rank, const NormUse& use);

/// Bias, dropout and addition to the residual stream, in the Sequence region.
[[nodiscard]] Operator residual_operator(const Transformer& model, const RankShape& rank,
                                         OperatorKind kind, bool has_bias);

/// Appends the operators of one layer's attention, input norm to residual, or of its MLP.
void append_attention(std::vector<Operator>& operators, const Transformer& model,
                      const Training& training, const RankShape& rank, std::int64_t layer);
void append_mlp(std::vector<Operator>& operators, const Transformer& model,
                const Training& training, const RankShape& rank);

}  // namespace orrery
