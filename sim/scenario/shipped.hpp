// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/diagnostic.hpp"

#include <string>
#include <vector>

namespace orrery {

/// The whole file as text. Errors: cannot be opened or read; larger than 16 MiB.
[[nodiscard]] Expected<std::string> read_text_file(const std::string& file);

/// Is it a path of one's own file rather than the name of a shipped one?
[[nodiscard]] bool is_own_file(const std::string& name);

/// `path` as seen from the folder of `from`; absolute paths stay. Normalised and absolute.
[[nodiscard]] std::string path_beside(const std::string& from, const std::string& path);

/// Path of scenarios/KIND/NAME.textproto, or `name` itself where it is a path. Errors: no such file
/// is shipped (message without a place, the nearest name as its hint).
[[nodiscard]] Expected<std::string> find_shipped(const std::string& kind, const std::string& name);

/// Names of the files of scenarios/KIND, without their ending, sorted.
[[nodiscard]] std::vector<std::string> shipped_names(const std::string& kind);

}  // namespace orrery
