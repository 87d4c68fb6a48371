// SPDX-License-Identifier: Apache-2.0
// Any bytes as a Hugging Face config.json: an error with a message, or a model with every
// dimension.
#include "fuzz_target.hpp"
#include "scenario/import/hf_config.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto model = orrery::import_hf_config(std::string(data, data + size), "config.json");
    if (!model) {
        if (model.error().empty() || model.error().front().message.empty()) {
            std::abort();
        }
        return 0;
    }
    if (model->layers < 1 || model->hidden < 1 || model->ffn_hidden < 1 || model->heads < 1 ||
        model->kv_heads < 1 || model->heads % model->kv_heads != 0 || model->head_dim < 1 ||
        model->vocab < 1 || orrery::to_model_text(*model).empty()) {
        std::abort();
    }
    return 0;
}
