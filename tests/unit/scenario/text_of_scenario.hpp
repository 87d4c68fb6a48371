// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "scenario/scenario.hpp"

#include <string>
#include <vector>

namespace orrery::test {

/// Llama 3 70B on 64 H100s: tensor 8, pipeline 4, data 2. What a test does not care about.
std::string small_scenario();

/// Errors of small_scenario() with these overrides ("plan.tensor=6"), one line each; empty when it
/// loads.
std::string errors_of(const std::vector<std::string>& sets);
/// Errors of a text, one line each.
std::string errors_of_text(const std::string& text);

Scenario load(const std::vector<std::string>& sets);
Scenario load_text(const std::string& text);

}  // namespace orrery::test
