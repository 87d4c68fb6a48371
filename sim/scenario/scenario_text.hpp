// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "scenario/scenario.hpp"

#include <string>

namespace orrery::schema {
class Scenario;
}  // namespace orrery::schema

namespace orrery {

/// The resolved scenario as a scenario file: every field of the structs is written out, presets no
/// longer decide anything. `merged` says which profiles were named; `file` is what their paths are
/// relative to.
[[nodiscard]] std::string scenario_text(const Scenario& scenario, const schema::Scenario& merged,
                                        const std::string& file);

}  // namespace orrery
