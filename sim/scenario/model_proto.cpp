// SPDX-License-Identifier: Apache-2.0
#include "scenario/enum_pairs.hpp"
#include "scenario/proto_fields.hpp"
#include "schema/scenario.pb.h"

#include <fmt/format.h>

namespace orrery {
namespace {

constexpr EnumPairs<schema::Norm::Kind, NormKind, 2> kNorms{
    {{schema::Norm::RMS_NORM, NormKind::RmsNorm}, {schema::Norm::LAYER_NORM, NormKind::LayerNorm}}};
constexpr EnumPairs<schema::Mlp::Kind, MlpKind, 2> kMlps{
    {{schema::Mlp::SWIGLU, MlpKind::SwiGlu}, {schema::Mlp::GELU, MlpKind::Gelu}}};
constexpr EnumPairs<schema::Position::Kind, PositionKind, 3> kPositions{
    {{schema::Position::ROTARY, PositionKind::Rotary},
     {schema::Position::LEARNED, PositionKind::Learned},
     {schema::Position::NONE, PositionKind::None}}};

constexpr const char* kSizeHint = "name a model.preset, or give every dimension";

/// Fills in the head's dimensions and checks that they fit each other.
void finish_heads(const schema::Model& message, Transformer& model, InputSources& sources) {
    model.kv_heads = message.has_kv_heads() ? message.kv_heads() : model.heads;
    if (model.heads % model.kv_heads != 0 &&
        !sources.is_any_bad({"model.heads", "model.kv_heads"})) {
        sources.add_error("model.kv_heads", {"model.kv_heads", "model.heads"},
                          fmt::format("kv_heads = {} does not divide model.heads = {}",
                                      model.kv_heads, model.heads),
                          "");
    }
    if (message.has_head_dim()) {
        model.head_dim = message.head_dim();
        return;
    }
    model.head_dim = model.hidden / model.heads;
    if (model.hidden % model.heads != 0 && !sources.is_any_bad({"model.heads", "model.hidden"})) {
        sources.add_error(
            "model.head_dim", {"model.heads", "model.hidden"},
            fmt::format("is unset, and model.heads = {} does not divide model.hidden = {}",
                        model.heads, model.hidden),
            "set model.head_dim");
    }
}

}  // namespace

Transformer read_model(const schema::Model& message, InputSources& sources) {
    const auto required = [&sources](bool is_set, std::int64_t value, const char* path) {
        if (!is_set && !sources.is_any_bad({path, "model.preset"})) {
            sources.add_error(path, "is required", kSizeHint);
        }
        return is_set ? value : std::int64_t{1};
    };
    Transformer model;
    model.name = message.has_name() ? message.name() : message.preset();
    model.layers = required(message.has_layers(), message.layers(), "model.layers");
    model.hidden = required(message.has_hidden(), message.hidden(), "model.hidden");
    model.ffn_hidden = required(message.has_ffn_hidden(), message.ffn_hidden(), "model.ffn_hidden");
    model.heads = required(message.has_heads(), message.heads(), "model.heads");
    model.vocab = required(message.has_vocab(), message.vocab(), "model.vocab");
    finish_heads(message, model, sources);
    if (message.has_vocab_divisible_by()) {
        model.vocab_divisible_by = message.vocab_divisible_by();
    }
    model.max_positions = message.max_positions();
    model.norm = from_schema(kNorms, message.norm());
    model.mlp = from_schema(kMlps, message.mlp());
    model.position = from_schema(kPositions, message.position());
    model.qkv_bias = message.qkv_bias();
    model.projection_bias = message.projection_bias();
    model.mlp_bias = message.mlp_bias();
    model.qk_norm = message.qk_norm();
    model.tied_embeddings = message.tied_embeddings();
    model.sliding_window = message.sliding_window();
    if (message.has_window_every()) {
        model.window_every = message.window_every();
    }
    model.dropout = message.dropout();
    return model;
}

void write_model(const Transformer& model, schema::Model& message) {
    message.set_name(model.name);
    message.set_layers(model.layers);
    message.set_hidden(model.hidden);
    message.set_ffn_hidden(model.ffn_hidden);
    message.set_heads(model.heads);
    message.set_kv_heads(model.kv_heads);
    message.set_head_dim(model.head_dim);
    message.set_vocab(model.vocab);
    message.set_vocab_divisible_by(model.vocab_divisible_by);
    message.set_max_positions(model.max_positions);
    message.set_norm(to_schema(kNorms, model.norm));
    message.set_mlp(to_schema(kMlps, model.mlp));
    message.set_position(to_schema(kPositions, model.position));
    message.set_qkv_bias(model.qkv_bias);
    message.set_projection_bias(model.projection_bias);
    message.set_mlp_bias(model.mlp_bias);
    message.set_qk_norm(model.qk_norm);
    message.set_tied_embeddings(model.tied_embeddings);
    message.set_sliding_window(model.sliding_window);
    message.set_window_every(model.window_every);
    message.set_dropout(model.dropout);
}

}  // namespace orrery
