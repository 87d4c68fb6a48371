// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/diagnostic.hpp"
#include "cluster/cluster.hpp"
#include "cost/profile.hpp"
#include "model/training.hpp"
#include "model/transformer.hpp"
#include "plan/plan.hpp"

#include <string>
#include <utility>
#include <vector>

namespace orrery {

/// A question to Orrery, with every default filled in and every rule checked.
struct Scenario {
    std::string name;
    Transformer model;
    Training training;
    Cluster cluster;
    Plan plan;
    GpuProfile gpu;
    FrameworkProfile framework;
    std::vector<std::string> notes;  ///< what was taken where the file left something open
    std::string text;                ///< the resolved scenario as a scenario file
};

/// "plan.tensor" = "4": dotted field names, `[i]` for repeated fields, enum values by name.
struct Override {
    std::string path;
    std::string value;
};

/// Splits "PATH=VALUE". Errors: no '='.
[[nodiscard]] Expected<Override> parse_override(const std::string& text);

/// Reads a scenario file, applies overrides, fills in presets, framework and defaults (in that
/// order), and checks every rule. Errors: all of them at once, each with file, line and column
/// where it has one.
[[nodiscard]] Expected<Scenario> load_scenario(const std::string& file,
                                               const std::vector<Override>& overrides);
[[nodiscard]] Expected<Scenario> parse_scenario(const std::string& text, const std::string& file,
                                                const std::vector<Override>& overrides);

/// Folder of the shipped models, clusters and profiles: $ORRERY_SCENARIOS, else beside the
/// executable's installation, else the source tree's.
[[nodiscard]] std::string scenarios_folder();

struct Shipped {
    std::string name;
    std::string summary;  ///< one line
};

/// What is shipped of `kind`: "models", "clusters", "fabrics", "gpus", "frameworks". Sorted by
/// name.
[[nodiscard]] Expected<std::vector<Shipped>> list_shipped(const std::string& kind);

}  // namespace orrery
