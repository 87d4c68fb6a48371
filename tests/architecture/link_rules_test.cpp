// SPDX-License-Identifier: Apache-2.0
#include "tests/architecture/link_rules.hpp"

#include "tests/catch.hpp"

namespace orrery::architecture {

TEST_CASE("link rules: a target's links are read from orrery_room and target_link_libraries") {
    const auto targets = read_targets(
        {{"sim/engine/CMakeLists.txt",
          {"# orrery_strategies is only named in this comment", "orrery_room(orrery_engine",
           "  SOURCES engine.cpp folding.cpp", "  DEPENDS orrery_program orrery_cost",
           "  PRIVATE fmt::fmt)", "target_link_libraries(orrery_engine PRIVATE orrery_network)"}}});
    REQUIRE(targets.size() == 1);
    CHECK(targets.at("orrery_engine").room == "engine");
    CHECK(targets.at("orrery_engine").links ==
          std::set<std::string>{"orrery_program", "orrery_cost", "orrery_network"});
}

TEST_CASE("link rules: engine and strategies may not reach each other, also through a third") {
    const auto targets = read_targets(
        {{"sim/engine/CMakeLists.txt",
          {"orrery_room(orrery_engine SOURCES a.cpp DEPENDS orrery_helper)"}},
         {"sim/cost/CMakeLists.txt",
          {"orrery_room(orrery_helper SOURCES b.cpp DEPENDS orrery_strategies)"}},
         {"strategies/CMakeLists.txt", {"orrery_room(orrery_strategies SOURCES c.cpp)"}}});
    const auto offences = link_offences(targets);
    REQUIRE(offences.size() == 2);
    CHECK(offences[0] == "orrery_engine links orrery_strategies");
    CHECK(offences[1] ==
          "orrery_helper links orrery_strategies, but cost may not include strategies");
}

TEST_CASE("link rules: a room may not link a room that it may not include") {
    const auto targets =
        read_targets({{"sim/model/CMakeLists.txt",
                       {"orrery_room(orrery_model SOURCES a.cpp DEPENDS orrery_base orrery_plan)"}},
                      {"sim/plan/CMakeLists.txt",
                       {"orrery_room(orrery_plan SOURCES b.cpp DEPENDS orrery_base)"}},
                      {"sim/base/CMakeLists.txt", {"orrery_room(orrery_base SOURCES c.cpp)"}}});
    CHECK(
        link_offences(targets) ==
        std::vector<std::string>{"orrery_model links orrery_plan, but model may not include plan"});
}

TEST_CASE("link rules: a cycle is an offence") {
    const auto targets =
        read_targets({{"sim/plan/CMakeLists.txt",
                       {"orrery_room(orrery_plan SOURCES a.cpp DEPENDS orrery_more)",
                        "orrery_room(orrery_more SOURCES b.cpp DEPENDS orrery_plan)"}}});
    CHECK(link_offences(targets).size() == 2);
}

}  // namespace orrery::architecture
