// SPDX-License-Identifier: Apache-2.0
#include "tests/catch.hpp"
#include "tests/unit/cli/run_orrery.hpp"

#include <nlohmann/json.hpp>

#include <set>

namespace orrery::test {
namespace {

using Json = nlohmann::json;

TEST_CASE("orrery simulate: the report starts with the verdict and ends with exit code 0") {
    const Outcome run = run_orrery({"simulate", small_scenario()});
    CHECK(run.exit_code == 0);
    CHECK(run.err.empty());  // no progress bar in a pipe
    CHECK(has(run.out, "✔ FITS"));
    CHECK(run.out.find('\x1b') == std::string::npos);
}

TEST_CASE("orrery simulate: --json - prints the object of the contract and nothing else") {
    const Outcome run = run_orrery({"simulate", small_scenario(), "--json", "-"});
    REQUIRE(run.exit_code == 0);
    const Json json = Json::parse(run.out);
    for (const char* key : {"schema_version",
                            "scenario",
                            "gpus",
                            "feasible",
                            "memory_margin",
                            "step_time_s",
                            "tokens_per_s",
                            "tokens_per_s_per_gpu",
                            "flop_convention",
                            "model_flop_per_step",
                            "hardware_flop_per_step",
                            "peak_flop_per_s",
                            "model_tflops_per_gpu",
                            "mfu",
                            "hfu",
                            "bubble_fraction",
                            "overlap_fraction",
                            "exposed_comm_s",
                            "time_s",
                            "peak_memory_bytes",
                            "peak_reserved_bytes",
                            "peak_memory_rank",
                            "memory_capacity_bytes",
                            "memory_at_peak",
                            "stages",
                            "communication",
                            "kernel_time_source",
                            "events",
                            "simulated_ranks",
                            "steps_simulated",
                            "wall_time_s"}) {
        INFO(key);
        CHECK(json.contains(key));
    }
    CHECK(json.at("schema_version") == 1);
    double sum = 0.0;
    for (const Json& part : json.at("time_s")) {
        sum += part.get<double>();
    }
    CHECK(sum == Approx(json.at("step_time_s").get<double>()).epsilon(1e-12));
    std::int64_t bytes = 0;
    for (const Json& part : json.at("memory_at_peak")) {
        bytes += part.get<std::int64_t>();
    }
    CHECK(bytes == json.at("peak_memory_bytes").get<std::int64_t>());
    CHECK(json.at("peak_reserved_bytes").get<std::int64_t>() >= bytes);
}

TEST_CASE("orrery simulate: no output may be the scenario or another output") {
    const TemporaryFolder folder;
    const std::string scenario = folder.file("s.textproto");
    write_text(scenario, read_text(small_scenario()));
    const std::string before = read_text(scenario);
    const Outcome own = run_orrery({"simulate", scenario, "--json", folder.file("./s.textproto")});
    CHECK(own.exit_code == 2);
    CHECK(has(own.err, "is the scenario itself"));
    CHECK(read_text(scenario) == before);
    const Outcome twice = run_orrery({"simulate", scenario, "--json", folder.file("x.json"),
                                      "--trace", folder.file("./x.json")});
    CHECK(twice.exit_code == 2);
    CHECK(has(twice.err, "is the file of --json, too"));
}

TEST_CASE("orrery simulate: a folded and an unfolded run give the same figures to the bit") {
    const auto figures = [](const std::vector<std::string>& more) {
        std::vector<std::string> words{"simulate", small_scenario(), "--json", "-"};
        words.insert(words.end(), more.begin(), more.end());
        Json json = Json::parse(run_orrery(words).out);
        for (const char* effort : {"events", "simulated_ranks", "wall_time_s"}) {
            REQUIRE(json.erase(effort) == 1);
        }
        return json.dump();
    };
    CHECK(figures({}) == figures({"--unfolded"}));
}

TEST_CASE("orrery simulate: a plan that does not fit is reported, written, and exits with 1") {
    const TemporaryFolder folder;
    const Outcome run =
        run_orrery({"simulate", small_scenario(), "--set", "training.micro_batch=8", "--set",
                    "training.sequence_length=32768", "--json", folder.file("r.json")});
    CHECK(run.exit_code == 1);
    CHECK(has(run.out, "✘ DOES NOT FIT"));
    const Json json = Json::parse(read_text(folder.file("r.json")));
    CHECK(json.at("feasible") == false);
    CHECK(json.at("memory_margin").get<double>() < 0.0);
}

TEST_CASE("orrery simulate: bad input names every fault, exits with 2 and writes nothing") {
    const TemporaryFolder folder;
    const Outcome run = run_orrery({"simulate", small_scenario(), "--set", "plan.tensr=4", "--set",
                                    "nonsense", "--json", folder.file("r.json"), "--trace",
                                    folder.file("t.pftrace"), "--record", "ranks"});
    CHECK(run.exit_code == 2);
    CHECK(run.out.empty());
    CHECK(has(run.err, "tensr"));
    CHECK(has(run.err, "nonsense"));
    CHECK(has(run.err, ".pftrace is not built yet"));
    CHECK(has(run.err, "'ranks' is not built yet"));
    CHECK(folder.names().empty());
}

TEST_CASE("orrery simulate: a scenario that is not there is bad input") {
    const Outcome run = run_orrery({"simulate", "no-such-file.textproto"});
    CHECK(run.exit_code == 2);
    CHECK(has(run.err, "no-such-file.textproto"));
}

TEST_CASE("orrery simulate: --trace writes the chosen ranks") {
    const TemporaryFolder folder;
    const Outcome run = run_orrery(
        {"simulate", small_scenario(), "--trace", folder.file("t.json"), "--trace-ranks", "0,2-3"});
    REQUIRE(run.exit_code == 0);
    const Json trace = Json::parse(read_text(folder.file("t.json")));
    std::set<int> ranks;
    for (const Json& event : trace.at("traceEvents")) {
        ranks.insert(event.at("pid").get<int>());
    }
    CHECK(ranks == std::set<int>{0, 2, 3});
    CHECK(folder.names() == std::vector<std::string>{"t.json"});
}

TEST_CASE("orrery simulate: recording a trace changes no figure") {
    const TemporaryFolder folder;
    Json with = Json::parse(
        run_orrery({"simulate", small_scenario(), "--trace", folder.file("t.json"), "--json", "-"})
            .out);
    Json without = Json::parse(run_orrery({"simulate", small_scenario(), "--json", "-"}).out);
    with.erase("wall_time_s");
    without.erase("wall_time_s");
    CHECK(with == without);
}

TEST_CASE("orrery simulate: ranks of a trace must be in the job") {
    const TemporaryFolder folder;
    for (const char* ranks : {"8", "3-1", "a", "0,,1", "-1", ""}) {
        const Outcome run = run_orrery({"simulate", small_scenario(), "--trace",
                                        folder.file("t.json"), "--trace-ranks", ranks});
        INFO(ranks);
        CHECK(run.exit_code == 2);
        CHECK(has(run.err, "--trace-ranks"));
        CHECK(folder.names().empty());
    }
    const Outcome alone = run_orrery({"simulate", small_scenario(), "--trace-ranks", "0"});
    CHECK(alone.exit_code == 2);
    CHECK(has(alone.err, "--trace-ranks: needs --trace"));
}

}  // namespace
}  // namespace orrery::test
