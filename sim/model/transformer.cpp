// SPDX-License-Identifier: Apache-2.0
#include "model/transformer.hpp"

#include "base/assert.hpp"

namespace orrery {

namespace {

std::int64_t norm_parameters(const Transformer& model) {
    return model.norm == NormKind::LayerNorm ? 2 * model.hidden : model.hidden;
}

}  // namespace

std::int64_t padded_vocab(const Transformer& model, std::int64_t tensor) {
    ORRERY_ASSERT(tensor >= 1 && model.vocab_divisible_by >= 1, "the reader checks both");
    const std::int64_t multiple = model.vocab_divisible_by * tensor;
    return (model.vocab + multiple - 1) / multiple * multiple;
}

std::int64_t layer_parameters(const Transformer& model) {
    const std::int64_t query = model.heads * model.head_dim;
    const std::int64_t qkv = query + 2 * model.kv_heads * model.head_dim;
    const std::int64_t up = (model.mlp == MlpKind::SwiGlu ? 2 : 1) * model.ffn_hidden;

    std::int64_t parameters = 2 * norm_parameters(model);
    parameters += model.hidden * (qkv + query);
    parameters += model.hidden * (up + model.ffn_hidden);
    parameters += model.qkv_bias ? qkv : 0;
    parameters += model.projection_bias ? model.hidden : 0;
    parameters += model.mlp_bias ? up + model.hidden : 0;
    parameters += model.qk_norm ? 2 * model.head_dim : 0;
    return parameters;
}

std::int64_t embedding_parameters(const Transformer& model) {
    const std::int64_t positions =
        model.position == PositionKind::Learned ? model.max_positions : 0;
    return (model.vocab + positions) * model.hidden;
}

std::int64_t final_norm_parameters(const Transformer& model) {
    return norm_parameters(model);
}

std::int64_t output_parameters(const Transformer& model) {
    return model.tied_embeddings ? 0 : model.vocab * model.hidden;
}

std::int64_t total_parameters(const Transformer& model) {
    return embedding_parameters(model) + model.layers * layer_parameters(model) +
           final_norm_parameters(model) + output_parameters(model);
}

bool has_window(const Transformer& model, std::int64_t layer) {
    return model.sliding_window > 0 && layer % model.window_every == 0;
}

}  // namespace orrery
