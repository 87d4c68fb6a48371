// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/diagnostic.hpp"
#include "model/transformer.hpp"

#include <string>

namespace orrery {

/// Reads a Hugging Face config.json of a dense decoder: Llama, Mistral, Qwen2 and Qwen2.5, Qwen3,
/// GPT-2, and GPT-NeoX without parallel residuals and partial rotary positions. A config that wraps
/// its text model in `text_config` gives the text model. An absent key has the default of its
/// configuration class. Errors, all at once, with the key and where possible its line: not JSON;
/// larger than 16 MiB or nested deeper than 64; mixture of experts and other architectures, by
/// name; a feature that changes the work and is not modelled; a dimension that is missing or out of
/// range. Source: transformers, src/transformers/models/*/configuration_*.py (keys and defaults).
[[nodiscard]] Expected<Transformer> import_hf_config(const std::string& json,
                                                     const std::string& file);

/// The model as a preset: a file for scenarios/models, to be named by model.preset. The padding of
/// the vocabulary is left open, as it is the framework's.
[[nodiscard]] std::string to_model_text(const Transformer& model);

}  // namespace orrery
