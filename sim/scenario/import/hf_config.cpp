// SPDX-License-Identifier: Apache-2.0
#include "scenario/import/hf_config.hpp"

#include "base/nearest_name.hpp"
#include "scenario/import/json_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace orrery {
namespace {

using nlohmann::json;

enum class Family { Llama, Mistral, Qwen2, Qwen3, Gpt2, GptNeox };

struct Architecture {
    std::string_view name;
    std::string_view model_type;
    Family family;
};

constexpr std::array<Architecture, 6> kDense{{{"LlamaForCausalLM", "llama", Family::Llama},
                                              {"MistralForCausalLM", "mistral", Family::Mistral},
                                              {"Qwen2ForCausalLM", "qwen2", Family::Qwen2},
                                              {"Qwen3ForCausalLM", "qwen3", Family::Qwen3},
                                              {"GPT2LMHeadModel", "gpt2", Family::Gpt2},
                                              {"GPTNeoXForCausalLM", "gpt_neox", Family::GptNeox}}};

constexpr std::array kExpertKeys{"num_local_experts", "num_experts", "n_routed_experts"};
constexpr std::int64_t kMaxDimension = 16'777'216;

/// Reads keys of one object and collects what is wrong with them.
class ConfigReader {
  public:
    ConfigReader(const json& config, const std::string& text, const std::string& file)
        : config_(&config), text_(&text), file_(&file) {}

    void error(const std::string& key, std::string message, std::string hint = "") {
        const TextPlace place = place_of_key(*text_, key);
        errors.push_back(Diagnostic{.file = *file_,
                                    .line = place.line,
                                    .column = place.column,
                                    .field = key,
                                    .message = std::move(message),
                                    .hint = std::move(hint)});
    }

    /// Absent and null are the same in these files.
    [[nodiscard]] const json* find(const std::string& key) const {
        const auto found = config_->find(key);
        return found == config_->end() || found->is_null() ? nullptr : &*found;
    }

    [[nodiscard]] bool has(const std::string& key) const { return config_->contains(key); }

    std::int64_t dimension(const std::string& key, std::optional<std::int64_t> fallback) {
        const json* value = find(key);
        if (value == nullptr) {
            if (!fallback) {
                error(key, "is required");
            }
            return fallback.value_or(1);
        }
        // Compared as double first: get<int64> of a larger number would wrap.
        if (!value->is_number_integer() || value->get<double>() < 1.0 ||
            value->get<double>() > static_cast<double>(kMaxDimension)) {
            error(key, fmt::format("{} is not a whole number from 1 to {}", shown(*value),
                                   kMaxDimension));
            return fallback.value_or(1);
        }
        return value->get<std::int64_t>();
    }

    bool flag(const std::string& key, bool fallback) {
        const json* value = find(key);
        if (value != nullptr && !value->is_boolean()) {
            error(key, shown(*value) + " is not true or false");
            return fallback;
        }
        return value == nullptr ? fallback : value->get<bool>();
    }

    double number(const std::string& key, double fallback) {
        const json* value = find(key);
        if (value != nullptr &&
            (!value->is_number() || value->get<double>() < 0.0 || value->get<double>() > 1.0)) {
            error(key, shown(*value) + " is not a number from 0 to 1");
            return fallback;
        }
        return value == nullptr ? fallback : value->get<double>();
    }

    std::string word(const std::string& key, const std::string& fallback) {
        const json* value = find(key);
        if (value != nullptr && !value->is_string()) {
            error(key, shown(*value) + " is not a string");
            return fallback;
        }
        return value == nullptr ? fallback : value->get<std::string>();
    }

    Diagnostics errors;

  private:
    static std::string shown(const json& value) {
        std::string text = value.dump(-1, ' ', true, json::error_handler_t::replace);
        return text.size() <= 40 ? text : text.substr(0, 37) + "...";
    }

    const json* config_;
    const std::string* text_;
    const std::string* file_;
};

/// The first of `architectures`, else of the `model_type`; empty when neither is there.
std::string architecture_name(ConfigReader& read) {
    const json* list = read.find("architectures");
    if (list != nullptr && list->is_array() && !list->empty() && list->front().is_string()) {
        return list->front().get<std::string>();
    }
    const std::string type = read.word("model_type", "");
    const auto* found = std::ranges::find(kDense, type, &Architecture::model_type);
    return found == kDense.end() ? type : std::string(found->name);
}

std::optional<Family> find_family(ConfigReader& read) {
    for (const char* key : kExpertKeys) {
        if (read.find(key) != nullptr) {
            read.error(key,
                       architecture_name(read) + " is a mixture of experts, which is not built yet",
                       "dense architectures can be imported");
            return std::nullopt;
        }
    }
    const std::string name = architecture_name(read);
    const auto* found = std::ranges::find(kDense, name, &Architecture::name);
    if (found != kDense.end()) {
        return found->family;
    }
    std::vector<std::string> names;
    for (const Architecture& known : kDense) {
        names.emplace_back(known.name);
    }
    std::string valid;
    for (const std::string& known : names) {
        valid += (valid.empty() ? "known: " : ", ") + known;
    }
    read.error("architectures",
               name.empty() ? "neither architectures nor model_type names the model"
                            : "\"" + name + "\" is not an architecture that can be imported",
               valid);
    return std::nullopt;
}

void require_activation(ConfigReader& read, const std::string& key, const std::string& fallback,
                        const std::vector<std::string>& valid) {
    const std::string act = read.word(key, fallback);
    if (std::ranges::find(valid, act) == valid.end()) {
        read.error(key, "\"" + act + "\" is not an activation that is modelled for it",
                   name_hint("", valid));
    }
}

void refuse_attention_dropout(ConfigReader& read) {
    if (read.number("attention_dropout", 0.0) > 0.0) {
        read.error("attention_dropout", "dropout of the attention alone is not modelled",
                   "training of these models sets it to 0");
    }
}

/// Windows on some layers only, as newer files list them.
void refuse_mixed_windows(ConfigReader& read) {
    if (read.flag("use_sliding_window", false)) {
        read.error("use_sliding_window",
                   "a window on some of the layers (max_window_layers) is not modelled");
    }
    const json* types = read.find("layer_types");
    if (types != nullptr && types->is_array() &&
        std::ranges::any_of(*types, [](const json& type) { return type != "full_attention"; })) {
        read.error("layer_types", "layers of different attention are not modelled");
    }
}

/// Dimensions that Llama and its relatives spell alike. `kv` and `head_dim`: defaults of the class.
Transformer read_llama_like(ConfigReader& read, std::optional<std::int64_t> kv,
                            std::optional<std::int64_t> head_dim) {
    Transformer model;
    model.layers = read.dimension("num_hidden_layers", std::nullopt);
    model.hidden = read.dimension("hidden_size", std::nullopt);
    model.ffn_hidden = read.dimension("intermediate_size", std::nullopt);
    model.heads = read.dimension("num_attention_heads", std::nullopt);
    model.kv_heads = read.dimension("num_key_value_heads", kv.value_or(model.heads));
    if (!head_dim && read.find("head_dim") == nullptr && model.hidden % model.heads != 0) {
        read.error("num_attention_heads", fmt::format("{} heads do not divide hidden_size = {}",
                                                      model.heads, model.hidden));
    }
    model.head_dim = read.dimension("head_dim", head_dim.value_or(model.hidden / model.heads));
    model.vocab = read.dimension("vocab_size", std::nullopt);
    model.tied_embeddings = read.flag("tie_word_embeddings", false);
    require_activation(read, "hidden_act", "silu", {"silu", "swish"});
    refuse_attention_dropout(read);
    return model;
}

Transformer read_llama(ConfigReader& read) {
    Transformer model = read_llama_like(read, std::nullopt, std::nullopt);
    const bool bias = read.flag("attention_bias", false);
    model.qkv_bias = bias;
    model.projection_bias = bias;
    model.mlp_bias = read.flag("mlp_bias", false);
    return model;
}

Transformer read_mistral(ConfigReader& read) {
    Transformer model = read_llama_like(read, 8, std::nullopt);
    // The class's default is 4096; null, which newer models write, is no window.
    model.sliding_window = read.has("sliding_window") ? 0 : 4096;
    if (read.find("sliding_window") != nullptr) {
        model.sliding_window = read.dimension("sliding_window", 4096);
    }
    return model;
}

Transformer read_qwen(ConfigReader& read, Family family) {
    Transformer model = family == Family::Qwen2 ? read_llama_like(read, 32, std::nullopt)
                                                : read_llama_like(read, 32, 128);
    refuse_mixed_windows(read);
    if (family == Family::Qwen2) {
        model.qkv_bias = true;  // in the code of the model, without a key
    } else {
        model.qk_norm = true;
        model.qkv_bias = read.flag("attention_bias", false);
        model.projection_bias = model.qkv_bias;
    }
    return model;
}

void set_gpt(Transformer& model) {
    model.norm = NormKind::LayerNorm;
    model.mlp = MlpKind::Gelu;
    model.qkv_bias = true;
    model.projection_bias = true;
    model.mlp_bias = true;
}

void finish_gpt_heads(ConfigReader& read, const std::string& key, Transformer& model) {
    model.kv_heads = model.heads;
    model.head_dim = model.hidden / model.heads;
    if (model.hidden % model.heads != 0) {
        read.error(key, fmt::format("{} heads do not divide the hidden size {}", model.heads,
                                    model.hidden));
    }
}

Transformer read_gpt2(ConfigReader& read) {
    Transformer model;
    set_gpt(model);
    model.layers = read.dimension("n_layer", 12);
    model.hidden = read.dimension("n_embd", 768);
    model.heads = read.dimension("n_head", 12);
    model.ffn_hidden = read.dimension("n_inner", 4 * model.hidden);
    model.vocab = read.dimension("vocab_size", 50257);
    model.max_positions = read.dimension("n_positions", 1024);
    model.position = PositionKind::Learned;
    model.tied_embeddings = read.flag("tie_word_embeddings", true);
    finish_gpt_heads(read, "n_head", model);
    require_activation(read, "activation_function", "gelu_new",
                       {"gelu", "gelu_new", "gelu_fast", "gelu_pytorch_tanh"});
    model.dropout = read.number("resid_pdrop", 0.1);
    if (read.number("attn_pdrop", 0.1) != model.dropout ||
        read.number("embd_pdrop", 0.1) != model.dropout) {
        read.error("resid_pdrop",
                   "resid_pdrop, attn_pdrop and embd_pdrop differ: one dropout is modelled");
    }
    return model;
}

Transformer read_gpt_neox(ConfigReader& read) {
    Transformer model;
    set_gpt(model);
    model.layers = read.dimension("num_hidden_layers", 44);
    model.hidden = read.dimension("hidden_size", 6144);
    model.heads = read.dimension("num_attention_heads", 64);
    model.ffn_hidden = read.dimension("intermediate_size", 24576);
    model.vocab = read.dimension("vocab_size", 50432);
    model.tied_embeddings = read.flag("tie_word_embeddings", false);
    finish_gpt_heads(read, "num_attention_heads", model);
    const bool bias = read.flag("attention_bias", true);
    model.qkv_bias = bias;
    model.projection_bias = bias;
    require_activation(read, "hidden_act", "gelu",
                       {"gelu", "gelu_new", "gelu_fast", "gelu_pytorch_tanh"});
    refuse_attention_dropout(read);
    if (read.number("hidden_dropout", 0.0) > 0.0) {
        read.error("hidden_dropout", "dropout of the hidden states alone is not modelled");
    }
    if (read.flag("use_parallel_residual", true)) {
        read.error("use_parallel_residual", "attention and MLP side by side are not modelled",
                   "its default is true; false can be imported");
    }
    if (read.number("rotary_pct", 0.25) != 1.0) {
        read.error("rotary_pct", "rotary positions on a part of each head are not modelled",
                   "its default is 0.25; 1 can be imported");
    }
    return model;
}

Transformer read_family(ConfigReader& read, Family family) {
    switch (family) {
        case Family::Llama:
            return read_llama(read);
        case Family::Mistral:
            return read_mistral(read);
        case Family::Qwen2:
        case Family::Qwen3:
            return read_qwen(read, family);
        case Family::Gpt2:
            return read_gpt2(read);
        case Family::GptNeox:
            return read_gpt_neox(read);
    }
    return Transformer{};
}

/// The file's name, or its folder's where the file is called config.json as most are.
std::string model_name(const std::string& file) {
    const std::filesystem::path path(file);
    const std::string stem = path.stem().string();
    const std::string folder = path.parent_path().filename().string();
    return stem == "config" && !folder.empty() && folder != "." && folder != ".." ? folder : stem;
}

}  // namespace

Expected<Transformer> import_hf_config(const std::string& text, const std::string& file) {
    if (const Diagnostics errors = check_json(text, file); !errors.empty()) {
        return fail(errors);
    }
    const json root = json::parse(text, nullptr, false);
    if (!root.is_object()) {
        return fail(
            Diagnostic{.file = file, .line = 1, .column = 1, .message = "expected a JSON object"});
    }
    const auto wrapped = root.find("text_config");
    const json& config = wrapped != root.end() && wrapped->is_object() ? *wrapped : root;
    ConfigReader read(config, text, file);
    const std::optional<Family> family = find_family(read);
    if (!family) {
        return fail(read.errors);
    }
    Transformer model = read_family(read, *family);
    model.name = model_name(file);
    if (model.heads % model.kv_heads != 0) {
        read.error("num_key_value_heads", fmt::format("{} does not divide num_attention_heads = {}",
                                                      model.kv_heads, model.heads));
    }
    if (!read.errors.empty()) {
        return fail(read.errors);
    }
    return model;
}

}  // namespace orrery
