// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/diagnostic.hpp"
#include "scenario/text_format.hpp"

#include <set>
#include <string>
#include <vector>

namespace orrery {

/// The files (and command line) that fields of a scenario come from, strongest first, and what was
/// found wrong with them. An error points to the place that the offending value was written at.
class InputSources {
  public:
    struct Layer {
        std::string file;  ///< or "--set"
        TextLocations places;
        std::string outer;  ///< "model.": the part of a scenario's path that this file holds
        std::string inner;  ///< what stands there for `outer` in the file: "", "settings."
        std::string
            what;  ///< said after a message: "a default of TORCHTITAN 2025-06"; may be empty
    };

    /// Later layers are weaker.
    void add_layer(Layer layer) { layers_.push_back(std::move(layer)); }

    /// Errors: `path` is a field of the scenario ("plan.tensor"); it counts as bad from now on.
    void add_error(const std::string& path, std::string message, std::string hint = "");
    /// The same, where the field may be unset: the place is the first of `reads` that someone set.
    void add_error(const std::string& path, const std::vector<std::string>& reads,
                   std::string message, std::string hint);
    void add_errors(const Diagnostics& errors);

    void mark_bad(const std::string& path) { bad_.insert(path); }

    /// Is one of these known to be wrong, so that a rule over it would only confuse?
    [[nodiscard]] bool is_any_bad(const std::vector<std::string>& paths) const;
    /// Did the command line or the scenario file (the first two layers) set it?
    [[nodiscard]] bool is_set_by_user(const std::string& path) const;

    [[nodiscard]] bool has_errors() const { return !errors_.empty(); }

    /// All errors: files in the order in which they were first told of, each by line.
    [[nodiscard]] Diagnostics take_errors();

  private:
    [[nodiscard]] static bool holds(const Layer& layer, const std::string& path);
    [[nodiscard]] static std::string in_file(const Layer& layer, const std::string& path);

    std::vector<Layer> layers_;
    Diagnostics errors_;
    std::set<std::string> bad_;
};

}  // namespace orrery
