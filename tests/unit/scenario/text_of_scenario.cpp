// SPDX-License-Identifier: Apache-2.0
#include "text_of_scenario.hpp"

#include "tests/catch.hpp"

namespace orrery::test {
namespace {

std::vector<Override> overrides(const std::vector<std::string>& sets) {
    std::vector<Override> list;
    for (const std::string& set : sets) {
        const auto parsed = parse_override(set);
        REQUIRE(parsed);
        list.push_back(*parsed);
    }
    return list;
}

Scenario required(const Expected<Scenario>& scenario) {
    INFO((scenario ? "" : to_string(scenario.error())));
    REQUIRE(scenario);
    return *scenario;
}

}  // namespace

std::string small_scenario() {
    return R"(name: "small"
model { preset: "llama3-70b" }
training {
  sequence_length: 8192
  global_batch: 64
}
cluster { preset: "dgx-h100" nodes: 8 }
plan {
  tensor: 8
  sequence_parallel: true
  pipeline: 4
}
)";
}

std::string errors_of(const std::vector<std::string>& sets) {
    const auto scenario = parse_scenario(small_scenario(), "s.textproto", overrides(sets));
    return scenario ? "" : to_string(scenario.error());
}

std::string errors_of_text(const std::string& text) {
    const auto scenario = parse_scenario(text, "s.textproto", {});
    return scenario ? "" : to_string(scenario.error());
}

Scenario load(const std::vector<std::string>& sets) {
    return required(parse_scenario(small_scenario(), "s.textproto", overrides(sets)));
}

Scenario load_text(const std::string& text) {
    return required(parse_scenario(text, "s.textproto", {}));
}

}  // namespace orrery::test
