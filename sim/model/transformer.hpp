// SPDX-License-Identifier: Apache-2.0
// Symbols: s sequence, b microbatch, h hidden, a query heads, g KV heads, d head dimension, f FFN
// width, L layers, V vocabulary, t tensor-parallel degree. Shapes are in Megatron's order [s, b,
// h].
#pragma once

#include <cstdint>
#include <string>

namespace orrery {

enum class NormKind : std::uint8_t { RmsNorm, LayerNorm };
enum class MlpKind : std::uint8_t { Gelu, SwiGlu };
enum class PositionKind : std::uint8_t { Rotary, Learned, None };

/// The dimensions of a dense decoder-only transformer. Every preset and import fills all of them.
struct Transformer {
    std::string name;
    std::int64_t layers = 0;              ///< L
    std::int64_t hidden = 0;              ///< h
    std::int64_t ffn_hidden = 0;          ///< f
    std::int64_t heads = 0;               ///< a
    std::int64_t kv_heads = 0;            ///< g; = a without grouped queries
    std::int64_t head_dim = 0;            ///< d; a·d need not be h
    std::int64_t vocab = 0;               ///< V before padding
    std::int64_t vocab_divisible_by = 1;  ///< padded to a multiple of this × t; 1 = only to t
    std::int64_t max_positions = 0;       ///< rows of the learned position table
    NormKind norm = NormKind::RmsNorm;
    MlpKind mlp = MlpKind::SwiGlu;
    PositionKind position = PositionKind::Rotary;
    bool qkv_bias = false;
    bool projection_bias = false;  ///< of the attention's output projection
    bool mlp_bias = false;
    bool qk_norm = false;  ///< RMSNorm of each query and key head
    bool tied_embeddings = false;
    std::int64_t sliding_window = 0;  ///< positions a query sees; 0 = all
    std::int64_t window_every =
        1;  ///< 1: every layer has the window; 2: every second one (layers 0, 2, …)
    double dropout = 0.0;  ///< probability of hidden and attention dropout; masks are kept if > 0

    friend bool operator==(const Transformer&, const Transformer&) = default;
};

/// V rounded up to a multiple of vocab_divisible_by · tensor.
/// Source: Megatron-LM --make-vocab-size-divisible-by.
[[nodiscard]] std::int64_t padded_vocab(const Transformer& model, std::int64_t tensor);

/// Parameters of one layer, of the embedding (with learned positions), of the final norm and of the
/// output projection (0 when tied): the unpadded counts that publishers state.
[[nodiscard]] std::int64_t layer_parameters(const Transformer& model);
[[nodiscard]] std::int64_t embedding_parameters(const Transformer& model);
[[nodiscard]] std::int64_t final_norm_parameters(const Transformer& model);
[[nodiscard]] std::int64_t output_parameters(const Transformer& model);
[[nodiscard]] std::int64_t total_parameters(const Transformer& model);

/// Does layer `layer` (from 0) attend through the sliding window?
[[nodiscard]] bool has_window(const Transformer& model, std::int64_t layer);

}  // namespace orrery
