// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/diagnostic.hpp"
#include "scenario/scenario.hpp"
#include "scenario/text_format.hpp"

#include <vector>

namespace orrery {

/// Sets the fields that the overrides name, in order; a later one wins. A repeated field takes a
/// list
/// "[7,8,8,7]" (which replaces it) or one element by "[i]" (i may be one past the last: it
/// appends). The paths that were set are added to `places` with line 0. Returns what was wrong,
/// with "--set" for the file; a bad override changes nothing.
[[nodiscard]] Diagnostics apply_overrides(const std::vector<Override>& overrides,
                                          google::protobuf::Message& message,
                                          TextLocations& places);

}  // namespace orrery
