// SPDX-License-Identifier: Apache-2.0
#include "report/chrome_trace.hpp"

#include "tests/catch.hpp"
#include "tests/unit/report/fixture.hpp"

#include <nlohmann/json.hpp>

#include <sstream>

namespace orrery {
namespace {

using Json = nlohmann::json;

Json trace_of(const test::Job& job, const std::vector<RankId>& ranks) {
    std::ostringstream out;
    write_chrome_trace(out, job.programs, job.costs, job.record, RankMesh(job.plan), ranks);
    return Json::parse(out.str()).at("traceEvents");
}

std::vector<Json> events_of(const Json& events, const std::string& phase) {
    std::vector<Json> found;
    for (const Json& event : events) {
        if (event.at("ph") == phase) {
            found.push_back(event);
        }
    }
    return found;
}

TEST_CASE("chrome trace: every kernel and communication of every chosen rank is a slice") {
    const test::Job job = test::make_job(false);
    const std::vector<Json> slices = events_of(trace_of(job, {RankId(0U), RankId(2U)}), "X");
    // stage 0: 4 kernels, 2 communications; stage 1: 5 and 2; and a wait before each communication
    CHECK(slices.size() == 4 + 5 + 2 * 4);
}

TEST_CASE("chrome trace: times are microseconds, exact to the picosecond") {
    test::Job job = test::make_job(false);
    job.record.step_start = SimTime::from_ps(1);
    job.record.classes[0].slices = {{InstructionId(0U), SimTime::from_ps(1'234'567),
                                     SimTime::from_ps(1'234'567), SimTime::from_ps(2'234'567)}};
    std::ostringstream out;
    write_chrome_trace(out, job.programs, job.costs, job.record, RankMesh(job.plan), {RankId(0U)});
    CHECK(out.str().find("\"ts\":1.234566,\"dur\":1.000000") != std::string::npos);
}

TEST_CASE("chrome trace: a send and its receive are joined by one flow") {
    const test::Job job = test::make_job(false);
    const Json events = trace_of(job, {RankId(1U), RankId(3U)});
    const auto starts = events_of(events, "s");
    const auto finishes = events_of(events, "f");
    REQUIRE(starts.size() == 1);
    REQUIRE(finishes.size() == 1);
    CHECK(starts[0].at("id") == finishes[0].at("id"));
    CHECK(starts[0].at("pid") == 1);
    CHECK(finishes[0].at("pid") == 3);
}

TEST_CASE("chrome trace: no flow joins ranks that do not talk to each other") {
    const test::Job job = test::make_job(false);
    CHECK(events_of(trace_of(job, {RankId(0U), RankId(3U)}), "s").empty());
}

TEST_CASE("chrome trace: memory starts at what is kept and returns to it") {
    const test::Job job = test::make_job(false);
    const auto counters = events_of(trace_of(job, {RankId(0U)}), "C");
    REQUIRE(counters.size() == 5);
    CHECK(counters[0].at("args").at("activations") == 0);
    CHECK(counters[0].at("args").at("parameters") == 2 * test::kGiB);
    CHECK(counters[2].at("args").at("activations") == test::kGiB);
    CHECK(counters[4].at("args").at("activations") == 0);
}

TEST_CASE("chrome trace: names with quotes are escaped") {
    test::Job job = test::make_job(false);
    job.programs.names[NameId(0U)] = "a \"quoted\" \\ name";
    const auto slices = events_of(trace_of(job, {RankId(0U)}), "X");
    CHECK(slices[0].at("name") == "a \"quoted\" \\ name");
}

}  // namespace
}  // namespace orrery
