// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/transformer.hpp"

#include <string>
#include <vector>

namespace orrery {

/// Reads scenarios/models/NAME.textproto line by line, so that these tests check the shipped
/// dimensions without the scenario reader. Throws std::runtime_error on a line it does not
/// understand.
[[nodiscard]] Transformer shipped_model(const std::string& name);

/// Every name that has such a file, sorted.
[[nodiscard]] std::vector<std::string> shipped_model_names();

/// Value of a string field of that file, or an empty string.
[[nodiscard]] std::string shipped_text(const std::string& name, const std::string& field);

}  // namespace orrery
