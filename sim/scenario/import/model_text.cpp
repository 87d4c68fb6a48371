// SPDX-License-Identifier: Apache-2.0
#include "scenario/import/hf_config.hpp"
#include "scenario/proto_fields.hpp"
#include "schema/scenario.pb.h"

#include <google/protobuf/text_format.h>

namespace orrery {

std::string to_model_text(const Transformer& model) {
    schema::Model message;
    write_model(model, message);
    if (model.vocab_divisible_by == 1) {
        message.clear_vocab_divisible_by();
    }
    message.set_summary(model.name + ": " + std::to_string(model.layers) + " layers, hidden " +
                        std::to_string(model.hidden));
    message.set_source("Hugging Face config.json");
    std::string text;
    google::protobuf::TextFormat::PrintToString(message, &text);
    return text;
}

}  // namespace orrery
