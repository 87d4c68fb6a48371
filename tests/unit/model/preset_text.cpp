// SPDX-License-Identifier: Apache-2.0
#include "preset_text.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>

namespace orrery {

namespace {

std::filesystem::path models_folder() {
    return std::filesystem::path(ORRERY_SOURCE_DIR) / "scenarios" / "models";
}

std::map<std::string, std::string> fields_of(const std::string& name) {
    std::ifstream file(models_folder() / (name + ".textproto"));
    if (!file) {
        throw std::runtime_error("no preset " + name);
    }
    std::map<std::string, std::string> fields;
    for (std::string line; std::getline(file, line);) {
        if (line.empty() || line.front() == '#') {
            continue;
        }
        const std::size_t colon = line.find(": ");
        if (colon == std::string::npos) {
            throw std::runtime_error(name + ": cannot read '" + line + "'");
        }
        fields[line.substr(0, colon)] = line.substr(colon + 2);
    }
    return fields;
}

class Fields {
  public:
    explicit Fields(const std::string& name) : fields_(fields_of(name)) {}

    void take(const char* field, std::int64_t& into) {
        if (const std::string text = take_text(field); !text.empty()) {
            into = std::stoll(text);
        }
    }

    void take(const char* field, double& into) {
        if (const std::string text = take_text(field); !text.empty()) {
            into = std::stod(text);
        }
    }

    void take(const char* field, bool& into) { into = take_text(field) == "true"; }

    std::string take_text(const char* field) {
        const auto node = fields_.extract(field);
        return node.empty() ? std::string() : node.mapped();
    }

    void require_empty() const {
        if (!fields_.empty()) {
            throw std::runtime_error("unknown field " + fields_.begin()->first);
        }
    }

  private:
    std::map<std::string, std::string> fields_;
};

}  // namespace

Transformer shipped_model(const std::string& name) {
    Fields fields(name);
    Transformer model;
    model.name = name;
    fields.take("layers", model.layers);
    fields.take("hidden", model.hidden);
    fields.take("ffn_hidden", model.ffn_hidden);
    fields.take("heads", model.heads);
    fields.take("kv_heads", model.kv_heads);
    fields.take("head_dim", model.head_dim);
    fields.take("vocab", model.vocab);
    fields.take("vocab_divisible_by", model.vocab_divisible_by);
    fields.take("max_positions", model.max_positions);
    fields.take("qkv_bias", model.qkv_bias);
    fields.take("projection_bias", model.projection_bias);
    fields.take("mlp_bias", model.mlp_bias);
    fields.take("qk_norm", model.qk_norm);
    fields.take("tied_embeddings", model.tied_embeddings);
    fields.take("sliding_window", model.sliding_window);
    fields.take("window_every", model.window_every);
    fields.take("dropout", model.dropout);
    model.norm = fields.take_text("norm") == "LAYER_NORM" ? NormKind::LayerNorm : NormKind::RmsNorm;
    model.mlp = fields.take_text("mlp") == "GELU" ? MlpKind::Gelu : MlpKind::SwiGlu;
    model.position =
        fields.take_text("position") == "LEARNED" ? PositionKind::Learned : PositionKind::Rotary;
    for (const char* text : {"name", "summary", "source"}) {
        (void)fields.take_text(text);
    }
    fields.require_empty();
    return model;
}

std::vector<std::string> shipped_model_names() {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(models_folder())) {
        if (entry.path().extension() == ".textproto") {
            names.push_back(entry.path().stem().string());
        }
    }
    std::sort(names.begin(), names.end());
    return names;
}

std::string shipped_text(const std::string& name, const std::string& field) {
    const auto fields = fields_of(name);
    const auto found = fields.find(field);
    return found == fields.end() || found->second.size() < 2
               ? std::string()
               : found->second.substr(1, found->second.size() - 2);
}

}  // namespace orrery
