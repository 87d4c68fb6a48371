// SPDX-License-Identifier: Apache-2.0
// The rules themselves, on files made up here: each one is shown to bite, and to leave the rest
// alone.
#include "tests/architecture/include_rules.hpp"

#include "tests/catch.hpp"

namespace orrery::architecture {
namespace {

std::size_t num_offences(const std::string& path, const std::string& line) {
    return include_offences({path, {line}}).size();
}

}  // namespace

TEST_CASE("include rules: an arrow against the table is an offence, along it is none") {
    CHECK(num_offences("sim/plan/plan.hpp", R"(#include "model/kernel.hpp")") == 0);
    CHECK(num_offences("sim/model/kernel.hpp", R"(#include "plan/plan.hpp")") == 1);
    CHECK(num_offences("sim/engine/engine.cpp", R"(#include "network/network.hpp")") == 0);
    CHECK(num_offences("sim/engine/engine.cpp", R"(#include "model/transformer.hpp")") == 1);
    CHECK(num_offences("strategies/zero.cpp", R"(#include "engine/engine.hpp")") == 1);
    CHECK(num_offences("strategies/schedule/gpipe.cpp", R"(#include "network/network.hpp")") == 1);
    CHECK(num_offences("strategies/schedule/gpipe.cpp", R"(#include "report/result.hpp")") == 1);
    CHECK(num_offences("strategies/zero.cpp", R"(#include "strategies/schedule/schedule.hpp")") ==
          0);
    CHECK(num_offences("gui/pages/timeline.cpp", R"(#include "engine/run_record.hpp")") == 1);
    CHECK(num_offences("calibrate/import/kineto.cpp", R"(#include "cost/profile.hpp")") == 1);
    CHECK(num_offences("sim/run/simulate.cpp", R"(#include "cli/commands.hpp")") == 1);
}

TEST_CASE(
    "include rules: of the engine, report sees the RunRecord only; of strategies, run sees "
    "build_programs") {
    CHECK(num_offences("sim/report/result.hpp", R"(#include "engine/run_record.hpp")") == 0);
    CHECK(num_offences("sim/report/result.hpp", R"(#include "engine/engine.hpp")") == 1);
    CHECK(num_offences("sim/run/simulate.cpp", R"(#include "strategies/build_programs.hpp")") == 0);
    CHECK(num_offences("sim/run/simulate.cpp", R"(#include "strategies/zero.hpp")") == 1);
    CHECK(num_offences("sim/cli/schedule.cpp", R"(#include "strategies/schedule/schedule.hpp")") ==
          0);
    CHECK(num_offences("sim/cli/schedule.cpp", R"(#include "strategies/zero.hpp")") == 1);
}

TEST_CASE("include rules: schema is for *_proto.cpp and for the rooms that name it") {
    CHECK(num_offences("sim/report/result_proto.cpp", R"(#include "schema/result.pb.h")") == 0);
    CHECK(num_offences("sim/report/json.cpp", R"(#include "schema/result.pb.h")") == 1);
    CHECK(num_offences("sim/report/json.cpp", "#include <result.pb.h>") == 1);
    CHECK(num_offences("sim/scenario/reader.cpp", R"(#include "schema/scenario.pb.h")") == 0);
    CHECK(num_offences("calibrate/fit/write.cpp", R"(#include "schema/scenario.pb.h")") == 1);
}

TEST_CASE("include rules: heavy headers stay out of headers") {
    CHECK(num_offences("sim/cli/main.cpp", "#include <CLI/CLI.hpp>") == 0);
    CHECK(num_offences("sim/cli/commands.hpp", "#include <CLI/CLI.hpp>") == 1);
    CHECK(num_offences("sim/report/json.hpp", "#include <nlohmann/json.hpp>") == 1);
    CHECK(num_offences("sim/scenario/text.hpp", "#include <google/protobuf/message.h>") == 1);
    CHECK(num_offences("sim/cluster/graph.hpp", "#include <boost/graph/adjacency_list.hpp>") == 1);
}

TEST_CASE("include rules: a quoted include that names no room is an offence") {
    CHECK(num_offences("sim/plan/plan.cpp", R"(#include "plan.hpp")") == 1);
    CHECK(num_offences("sim/plan/plan.cpp", R"(#include "../model/kernel.hpp")") == 1);
    CHECK(num_offences("sim/plan/plan.cpp", R"(#include "modle/kernel.hpp")") == 1);
    CHECK(num_offences("sim/newroom/a.cpp", R"(#include "base/ids.hpp")") == 1);
}

TEST_CASE("include rules: comments hide an include, odd spacing does not") {
    CHECK(num_offences("sim/model/a.cpp", R"(// #include "plan/plan.hpp")") == 0);
    CHECK(
        include_offences({"sim/model/a.cpp", {"/*", R"(#include "plan/plan.hpp")", "*/"}}).empty());
    CHECK(num_offences("sim/model/a.cpp", "  #  include\t\"plan/plan.hpp\"  // why not") == 1);
    CHECK(include_offences({"sim/model/a.cpp", {"/* a", "b */", R"(#include "plan/plan.hpp")"}})
              .at(0)
              .starts_with("sim/model/a.cpp:3: "));
}

}  // namespace orrery::architecture
