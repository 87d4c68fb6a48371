// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "scenario/framework_reader.hpp"
#include "scenario/input_sources.hpp"

#include <string>

namespace orrery::schema {
class FrameworkSettings;
class Scenario;
}  // namespace orrery::schema

namespace orrery {

/// Overlays what the user set on the model's and the cluster's presets and those on the framework's
/// defaults; in `scenario` then stands all that anybody said. Adds a layer to `sources` for each
/// file. `framework` and `settings` receive the framework's file and release. Errors go to
/// `sources`: a preset or framework that is not there, or whose file has errors. Requires: layers 0
/// and 1 of `sources` are the command line and the scenario file.
void merge_presets(schema::Scenario& scenario, const std::string& scenario_file,
                   InputSources& sources, FrameworkFile& framework,
                   schema::FrameworkSettings& settings, FrameworkProfile& profile);

}  // namespace orrery
