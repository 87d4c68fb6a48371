// SPDX-License-Identifier: Apache-2.0
// Every GPipe, 1F1B and interleaved run of data/schedules.json, which independent simulators agree
// on.
#include "strategies/schedule/order_timing.hpp"
#include "tests/catch.hpp"

#include <nlohmann/json.hpp>

#include <fstream>
#include <sstream>

namespace orrery {
namespace {

using nlohmann::json;

const json& oracle() {
    static const json data = [] {
        std::ifstream file(ORRERY_SOURCE_DIR "/tests/oracle/data/schedules.json");
        return json::parse(file).at("schedules");
    }();
    return data;
}

PipelineOrder order_of(const json& schedule) {
    const auto p = schedule.at("stages").get<std::int64_t>();
    const auto m = schedule.at("microbatches").get<std::int64_t>();
    const auto kind = schedule.at("kind").get<std::string>();
    if (kind == "GPIPE") {
        return gpipe_order(p, m);
    }
    if (kind == "ONE_F_ONE_B") {
        return one_f_one_b_order(p, m);
    }
    REQUIRE(kind == "INTERLEAVED");
    return interleaved_order(p, schedule.at("virtual").get<std::int64_t>(), m,
                             schedule.value("group", p), schedule.value("extra_warmup", 0));
}

std::string line_of(const PipelineOrder& order, std::size_t rank) {
    std::string line;
    for (const Pass& pass : order.ranks[rank]) {
        line += (line.empty() ? "" : " ") + to_string(pass, order.virtual_stages > 1);
    }
    return line;
}

std::vector<double> first_starts(const OrderTiming& timing) {
    std::vector<double> starts;
    for (const auto& passes : timing.passes) {
        starts.push_back(passes.front().start);
    }
    return starts;
}

std::vector<double> last_ends(const OrderTiming& timing) {
    std::vector<double> ends;
    for (const auto& passes : timing.passes) {
        ends.push_back(passes.back().end);
    }
    return ends;
}

// Quarter-unit costs are exact in binary, so all comparisons are exact.
void check_run(const PipelineOrder& order, const json& schedule, const json& run) {
    const PassCosts costs{run.at("F"), run.at("B"), run.at("W"), run.at("p2p")};
    CAPTURE(schedule.at("name"), costs.forward, costs.input_gradient, costs.weight_gradient,
            costs.p2p);
    const auto timing = time_order(order, costs);
    REQUIRE(timing);
    CHECK(timing->makespan == run.at("makespan").get<double>());
    CHECK(timing->span == run.at("span").get<std::vector<double>>());
    CHECK(timing->idle == run.at("idle").get<std::vector<double>>());
    CHECK(first_starts(*timing) == run.at("first_start").get<std::vector<double>>());
    CHECK(last_ends(*timing) == run.at("end").get<std::vector<double>>());
    CHECK(timing->peak_activations == run.at("peak_until_W").get<std::vector<std::int64_t>>());
    CHECK(timing->peak_activations_until_b ==
          run.at("peak_until_B").get<std::vector<std::int64_t>>());
    CHECK(timing->messages ==
          schedule.at("messages_sent").get<std::vector<std::pair<std::int64_t, std::int64_t>>>());
    const double work = static_cast<double>(order.microbatches * order.virtual_stages) *
                        (costs.forward + costs.input_gradient + costs.weight_gradient);
    for (std::size_t r = 0; r < timing->span.size(); ++r) {
        CHECK(timing->bubble[r] == timing->span[r] - work);
    }
}

TEST_CASE("orders equal the oracle's, pass by pass") {
    REQUIRE(oracle().size() == 7);
    for (const json& schedule : oracle()) {
        const PipelineOrder order = order_of(schedule);
        const auto expected = schedule.at("orders").get<std::vector<std::string>>();
        REQUIRE(order.ranks.size() == expected.size());
        for (std::size_t r = 0; r < expected.size(); ++r) {
            CAPTURE(schedule.at("name"), r);
            CHECK(line_of(order, r) == expected[r]);
        }
    }
}

TEST_CASE(
    "makespan, spans, idle, starts, ends, peaks and messages equal the oracle's in every run") {
    int runs = 0;
    for (const json& schedule : oracle()) {
        const PipelineOrder order = order_of(schedule);
        for (const json& run : schedule.at("runs")) {
            check_run(order, schedule, run);
            ++runs;
        }
    }
    CHECK(runs == 28);
}

TEST_CASE("the oracle's orders read from text time as the built ones do") {
    for (const json& schedule : oracle()) {
        const auto order =
            parse_order(schedule.at("orders").get<std::vector<std::string>>(), "schedules.json");
        REQUIRE(order);
        CHECK(order->ranks == order_of(schedule).ranks);
        for (const json& run : schedule.at("runs")) {
            check_run(*order, schedule, run);
        }
    }
}

}  // namespace
}  // namespace orrery
