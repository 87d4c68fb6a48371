// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/diagnostic.hpp"
#include "scenario/text_format.hpp"

#include <string>

namespace orrery {

/// What keeps `text` from being read as JSON: it is not JSON (with line and column), larger than 16
/// MiB, or nested deeper than 64. Empty when all is well.
[[nodiscard]] Diagnostics check_json(const std::string& text, const std::string& file);

/// Where `"key"` stands, if just once; else line 0.
[[nodiscard]] TextPlace place_of_key(const std::string& text, const std::string& key);

}  // namespace orrery
