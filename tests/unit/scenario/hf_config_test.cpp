// SPDX-License-Identifier: Apache-2.0
#include "scenario/import/hf_config.hpp"

#include "scenario/scenario.hpp"
#include "scenario/text_format.hpp"
#include "schema/scenario.pb.h"
#include "tests/catch.hpp"

#include <string>

namespace orrery {
namespace {

// The published files, without the keys that say nothing about size.
constexpr const char* kLlama31 = R"({
  "architectures": ["LlamaForCausalLM"],
  "attention_bias": false,
  "attention_dropout": 0.0,
  "hidden_act": "silu",
  "hidden_size": 4096,
  "intermediate_size": 14336,
  "max_position_embeddings": 131072,
  "mlp_bias": false,
  "model_type": "llama",
  "num_attention_heads": 32,
  "num_hidden_layers": 32,
  "num_key_value_heads": 8,
  "rope_scaling": {"factor": 8.0, "rope_type": "llama3"},
  "tie_word_embeddings": false,
  "vocab_size": 128256
})";
constexpr const char* kQwen25 = R"({
  "architectures": ["Qwen2ForCausalLM"], "attention_dropout": 0.0, "hidden_act": "silu",
  "hidden_size": 3584, "intermediate_size": 18944, "max_window_layers": 28, "model_type": "qwen2",
  "num_attention_heads": 28, "num_hidden_layers": 28, "num_key_value_heads": 4,
  "sliding_window": 131072, "tie_word_embeddings": false, "use_sliding_window": false,
  "vocab_size": 152064
})";
constexpr const char* kQwen3 = R"({
  "architectures": ["Qwen3ForCausalLM"], "attention_bias": false, "attention_dropout": 0.0,
  "head_dim": 128, "hidden_act": "silu", "hidden_size": 5120, "intermediate_size": 25600,
  "num_attention_heads": 64, "num_hidden_layers": 64, "num_key_value_heads": 8,
  "sliding_window": null, "use_sliding_window": false, "vocab_size": 151936
})";
constexpr const char* kMistral = R"({
  "architectures": ["MistralForCausalLM"], "hidden_act": "silu", "hidden_size": 4096,
  "intermediate_size": 14336, "num_attention_heads": 32, "num_hidden_layers": 32,
  "num_key_value_heads": 8, "sliding_window": 4096, "vocab_size": 32000
})";
constexpr const char* kGpt2 = R"({
  "activation_function": "gelu_new", "architectures": ["GPT2LMHeadModel"], "attn_pdrop": 0.1,
  "embd_pdrop": 0.1, "model_type": "gpt2", "n_ctx": 1024, "n_embd": 768, "n_head": 12,
  "n_layer": 12, "n_positions": 1024, "resid_pdrop": 0.1, "vocab_size": 50257
})";

Transformer import(const std::string& text) {
    const auto model = import_hf_config(text, "folder/config.json");
    INFO((model ? "" : to_string(model.error())));
    REQUIRE(model);
    return *model;
}

std::string errors(const std::string& text) {
    const auto model = import_hf_config(text, "c.json");
    return model ? "" : to_string(model.error());
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
}

bool has(const std::string& found, const std::string& part) {
    UNSCOPED_INFO(found);
    return found.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("imported models have the published number of parameters") {
    CHECK(total_parameters(import(kLlama31)) == 8'030'261'248);
    CHECK(total_parameters(import(kQwen25)) == 7'615'616'512);
    CHECK(total_parameters(import(kQwen3)) == 32'762'123'264);
    // Mistral 7B v0.1: 7,241,732,096; GPT-2: 124,439,808 (their model cards).
    CHECK(total_parameters(import(kMistral)) == 7'241'732'096);
    CHECK(total_parameters(import(kGpt2)) == 124'439'808);
}

TEST_CASE("an imported model has the features of its architecture") {
    const Transformer llama = import(kLlama31);
    CHECK(llama.name == "folder");
    CHECK(llama.kv_heads == 8);
    CHECK(llama.head_dim == 128);
    CHECK_FALSE(llama.qkv_bias);
    const Transformer qwen25 = import(kQwen25);
    CHECK(qwen25.qkv_bias);
    CHECK_FALSE(qwen25.projection_bias);
    CHECK(qwen25.sliding_window == 0);
    const Transformer qwen3 = import(kQwen3);
    CHECK(qwen3.qk_norm);
    CHECK(qwen3.head_dim * qwen3.heads == 8192);
    CHECK(import(kMistral).sliding_window == 4096);
    const Transformer gpt2 = import(kGpt2);
    CHECK(gpt2.position == PositionKind::Learned);
    CHECK(gpt2.norm == NormKind::LayerNorm);
    CHECK(gpt2.mlp == MlpKind::Gelu);
    CHECK(gpt2.ffn_hidden == 3072);
    CHECK(gpt2.tied_embeddings);
    CHECK(gpt2.dropout == 0.1);
}

TEST_CASE("a wrapped text model is found") {
    CHECK(import("{\"architectures\": [\"Whole\"], \"text_config\": " + std::string(kMistral) + "}")
              .layers == 32);
}

TEST_CASE("mixtures of experts and unknown architectures are refused by name") {
    CHECK(has(errors(replaced(kMistral, "\"MistralForCausalLM\"]",
                              "\"MixtralForCausalLM\"], \"num_local_experts\": 8")),
              "MixtralForCausalLM is a mixture of experts, which is not built yet"));
    CHECK(has(errors(R"({"architectures": ["DeepseekV3ForCausalLM"], "n_routed_experts": 256})"),
              "DeepseekV3ForCausalLM is a mixture of experts"));
    CHECK(has(errors(R"({"architectures": ["MambaForCausalLM"]})"),
              "\"MambaForCausalLM\" is not an architecture that can be imported\n    known: "
              "LlamaForCausalLM"));
    CHECK(has(errors("{}"), "neither architectures nor model_type"));
}

TEST_CASE("features that change the work and are not modelled are refused at their line") {
    CHECK(has(errors(replaced(kLlama31, "\"silu\"", "\"relu\"")),
              "c.json:5:3: hidden_act: \"relu\""));
    CHECK(
        has(errors(replaced(kLlama31, "\"attention_dropout\": 0.0", "\"attention_dropout\": 0.1")),
            "c.json:4:3: attention_dropout: "));
    CHECK(has(
        errors(replaced(kQwen25, "\"use_sliding_window\": false", "\"use_sliding_window\": true")),
        "use_sliding_window: "));
    CHECK(has(errors(R"({"model_type": "gpt_neox"})"), "use_parallel_residual: "));
    CHECK(
        has(errors(replaced(kGpt2, "\"attn_pdrop\": 0.1", "\"attn_pdrop\": 0.2")), "resid_pdrop"));
}

TEST_CASE("all that is missing or out of range is told at once") {
    const std::string found = errors(
        R"({"architectures": ["LlamaForCausalLM"], "hidden_size": -1, "num_attention_heads": 1e3,
            "num_hidden_layers": "many", "vocab_size": 99999999999999999999, "tie_word_embeddings": 1})");
    CHECK(has(found, "hidden_size: -1 is not a whole number"));
    CHECK(has(found, "num_attention_heads: 1000.0 is not a whole number"));
    CHECK(has(found, "num_hidden_layers: \"many\" is not a whole number"));
    CHECK(has(found, "vocab_size: "));
    CHECK(has(found, "intermediate_size: is required"));
    CHECK(has(found, "tie_word_embeddings: 1 is not true or false"));
}

TEST_CASE("what is not JSON, too deep or too long ends with one error") {
    CHECK(errors("{\n  \"a\": ,\n}").starts_with("c.json:2:8: is not JSON"));
    CHECK(errors(std::string(100'000, '[')).starts_with("c.json: is nested deeper than 64"));
    CHECK(errors(std::string(17U << 20U, ' ')) == "c.json: is larger than 16 MiB\n");
    CHECK(errors("[]").starts_with("c.json:1:1: expected a JSON object"));
    CHECK_FALSE(errors("").empty());
    CHECK_FALSE(errors("{\"a\": \"\xff\"}").empty());
}

TEST_CASE("an imported model is a preset that gives the same model again") {
    Transformer qwen = import(kQwen3);
    schema::Model message;
    REQUIRE(parse_text(to_model_text(qwen), "m", message, nullptr).empty());
    const auto scenario =
        parse_scenario("model {\n" + to_model_text(qwen) +
                           "}\ntraining { sequence_length: 4096 global_batch: 8 }\n"
                           "cluster { preset: \"dgx-h100\" }\nplan { tensor: 8 }\n",
                       "s", {});
    INFO((scenario ? "" : to_string(scenario.error())));
    REQUIRE(scenario);
    qwen.vocab_divisible_by = 128;  // left open by the preset: the framework's
    CHECK(scenario->model == qwen);
}

}  // namespace orrery
