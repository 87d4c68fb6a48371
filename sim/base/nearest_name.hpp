// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace orrery {

/// The candidate with the least edit distance to `name` (case ignored, first of equals), or an
/// empty string where none is within max(2, size/3) edits.
[[nodiscard]] std::string nearest_name(std::string_view name,
                                       const std::vector<std::string>& candidates);

/// "did you mean 'x'?", or "valid: a, b, c" where nothing is near; empty where there are no
/// candidates.
[[nodiscard]] std::string name_hint(std::string_view name,
                                    const std::vector<std::string>& candidates);

}  // namespace orrery
