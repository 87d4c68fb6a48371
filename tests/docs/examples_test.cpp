// SPDX-License-Identifier: Apache-2.0
// The shipped scenarios, each simulated by the command itself.
#include "tests/catch.hpp"
#include "tests/docs/shell.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>

namespace orrery::docs {
namespace {

namespace fs = std::filesystem;

nlohmann::json simulate(const std::string& scenario) {
    const Workplace workplace;
    const Ran ran =
        workplace.run("orrery simulate scenarios/examples/" + scenario + ".textproto --json -");
    INFO(scenario << "\n" << ran.errors);
    REQUIRE(ran.code == 0);
    return nlohmann::json::parse(ran.output);
}

std::vector<std::string> shipped(const std::string& folder) {
    std::vector<std::string> names;
    for (const auto& entry :
         fs::directory_iterator(fs::path(ORRERY_SOURCE_DIR) / "scenarios" / folder)) {
        if (entry.path().extension() == ".textproto") {
            names.push_back(entry.path().stem().string());
        }
    }
    std::ranges::sort(names);
    return names;
}

/// "llama3-8b-8xh100" → 8.
std::int64_t gpus_in_name(const std::string& name) {
    const std::size_t dash = name.rfind('-');
    return std::stoll(name.substr(dash + 1, name.find('x', dash) - dash - 1));
}

}  // namespace

TEST_CASE("examples: every shipped scenario simulates, fits in memory and is what its name says") {
    const auto names = shipped("examples");
    CHECK(names.size() >= 9);
    for (const std::string& name : names) {
        const nlohmann::json result = simulate(name);
        INFO(name);
        CHECK(result.at("scenario") == name);
        CHECK(result.at("gpus") == gpus_in_name(name));
        CHECK(result.at("feasible") == true);
        CHECK(result.at("mfu") > 0.05);
        CHECK(result.at("mfu") < 0.8);
    }
}

// Published arithmetic: Megatron-LM's present formula for Llama 3 8B, 128 sequences of 8192 tokens;
// its formula of 2021, 72 B s L h^2 (1 + s/6h + V/12Lh), for GPT-3 with 64 sequences of 2048
// tokens.
TEST_CASE("examples: model FLOP of a step are those of the published formulas") {
    CHECK(simulate("llama3-8b-8xh100").at("model_flop_per_step") ==
          Approx(5.397063e16).epsilon(1e-6));
    CHECK(simulate("gpt3-175b-64xa100").at("model_flop_per_step") ==
          Approx(3.386197e18 * 64 / 1536).epsilon(1e-6));
}

TEST_CASE("examples: every DGX and NVL72 cluster is listed") {
    const Workplace workplace;
    const Ran ran = workplace.run("orrery list clusters");
    REQUIRE(ran.code == 0);
    for (const char* name : {"dgx-a100-40g", "dgx-a100-80g", "dgx-h100", "dgx-h200", "dgx-h800",
                             "dgx-b200", "dgx-b300", "gb200-nvl72", "gb300-nvl72"}) {
        INFO(name);
        CHECK(ran.output.find(name) != std::string::npos);
    }
}

}  // namespace orrery::docs
