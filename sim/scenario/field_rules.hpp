// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "scenario/input_sources.hpp"

namespace orrery::schema {
class Scenario;
}  // namespace orrery::schema

namespace orrery {

/// Checks every field that is set against the range it may have, and refuses by name what the
/// schema knows and no code honours yet. Each error goes to `sources`.
void check_fields(const schema::Scenario& merged, InputSources& sources);

}  // namespace orrery
