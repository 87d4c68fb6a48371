// SPDX-License-Identifier: Apache-2.0
#include "tests/catch.hpp"
#include "tests/unit/cli/run_orrery.hpp"

#include <nlohmann/json.hpp>

namespace orrery::test {
namespace {

using Json = nlohmann::json;

TEST_CASE(
    "orrery schedule: 1F1B of 4 stages and 8 micro-batches is drawn as the golden file shows it") {
    const Outcome drawn =
        run_orrery({"schedule", "one_f_one_b", "--stages", "4", "--microbatches", "8"});
    CHECK(drawn.exit_code == 0);
    CHECK(drawn.out == read_text(ORRERY_SOURCE_DIR "/tests/golden/schedule_1f1b.txt"));
}

// p = 4, m = 8, F = B = W = 1: makespan (m + p − 1)·3 = 33; the first and last stage's orders are
// the known ones (arXiv 2006.09503).
TEST_CASE("orrery schedule: JSON of 1F1B has the closed form's figures") {
    const Outcome printed = run_orrery(
        {"schedule", "one_f_one_b", "--stages", "4", "--microbatches", "8", "--json", "-"});
    REQUIRE(printed.exit_code == 0);
    const Json json = Json::parse(printed.out);
    CHECK(json.at("kind") == "one_f_one_b");
    CHECK(json.at("stages") == 4);
    CHECK(json.at("microbatches") == 8);
    CHECK(json.at("virtual") == 1);
    CHECK(json.at("makespan") == 33.0);
    CHECK(json.at("stage_span") == Json({33.0, 30.0, 27.0, 24.0}));
    CHECK(json.at("bubble") == Json({9.0, 6.0, 3.0, 0.0}));
    CHECK(json.at("idle") == Json({9.0, 9.0, 9.0, 9.0}));
    CHECK(json.at("peak_activations") == Json({4, 3, 2, 1}));
    CHECK(json.at("peak_activations_until_b") == Json({4, 3, 2, 1}));
    CHECK(json.at("messages") == Json::parse("[[8,0],[8,8],[8,8],[0,8]]"));
    CHECK(json.at("order").at(3).at(1) == "BW0");
}

// Message time of a quarter on GPipe: makespan 34.5 (oracle of two independent simulators).
TEST_CASE("orrery schedule: costs and message time are honoured") {
    const Outcome printed = run_orrery({"schedule", "gpipe", "--stages", "4", "--microbatches", "8",
                                        "--costs", "1,1,1", "--p2p", "0.25", "--json", "-"});
    REQUIRE(printed.exit_code == 0);
    CHECK(Json::parse(printed.out).at("makespan") == 34.5);
    const Outcome scaled = run_orrery({"schedule", "gpipe", "--stages", "4", "--microbatches", "8",
                                       "--costs", "10,14,6", "--json", "-"});
    CHECK(Json::parse(scaled.out).at("makespan") == 330.0);
}

TEST_CASE("orrery schedule: interleaved passes carry their chunk") {
    const Outcome printed = run_orrery({"schedule", "interleaved", "--stages", "2",
                                        "--microbatches", "2", "--virtual", "2", "--json", "-"});
    REQUIRE(printed.exit_code == 0);
    const Json json = Json::parse(printed.out);
    CHECK(json.at("virtual") == 2);
    CHECK(json.at("order").at(0).at(0) == "F0.0");
}

TEST_CASE("orrery schedule: an order from a file is timed as the built-in one") {
    const TemporaryFolder folder;
    write_text(folder.file("order.txt"), "F0 F1 BW0 BW1\nF0 BW0 F1 BW1\n");
    const Outcome from_file =
        run_orrery({"schedule", "file", "--file", folder.file("order.txt"), "--json", "-"});
    REQUIRE(from_file.exit_code == 0);
    const Outcome built_in = run_orrery(
        {"schedule", "one_f_one_b", "--stages", "2", "--microbatches", "2", "--json", "-"});
    Json a = Json::parse(from_file.out);
    Json b = Json::parse(built_in.out);
    a.erase("kind");
    b.erase("kind");
    CHECK(a == b);
}

TEST_CASE("orrery schedule: a file that cannot finish, or that disagrees, is bad input") {
    const TemporaryFolder folder;
    write_text(folder.file("stuck.txt"), "F0 BW0 F1 BW1\nF1 F0 BW1 BW0\n");
    const Outcome stuck = run_orrery({"schedule", "file", "--file", folder.file("stuck.txt")});
    CHECK(stuck.exit_code == 2);
    CHECK(stuck.out.empty());
    CHECK(has(stuck.err, "wait"));
    write_text(folder.file("order.txt"), "F0 BW0\nF0 BW0\n");
    const Outcome other =
        run_orrery({"schedule", "file", "--file", folder.file("order.txt"), "--stages", "3"});
    CHECK(other.exit_code == 2);
    CHECK(has(other.err, "--stages: 3, but"));
    CHECK(run_orrery({"schedule", "file", "--file", folder.file("none.txt")}).exit_code == 2);
}

TEST_CASE("orrery schedule: everything that is wrong is said at once") {
    const Outcome refused = run_orrery({"schedule", "gpipe", "--virtual", "2", "--group", "3",
                                        "--extra-warmup", "1", "--file", "x", "--costs", "1,a"});
    CHECK(refused.exit_code == 2);
    for (const char* part : {"--stages: is needed", "--microbatches: is needed",
                             "--virtual: gpipe has one", "--group: only", "--extra-warmup: only",
                             "--file: belongs", "--costs: 'a' is no duration"}) {
        CHECK(has(refused.err, part));
    }
}

TEST_CASE("orrery schedule: kinds and options that are not built are refused by name") {
    for (const char* kind : {"zb_h1", "dualpipe", "auto", "looped_bfs", "v_half"}) {
        const Outcome refused =
            run_orrery({"schedule", kind, "--stages", "2", "--microbatches", "4"});
        CHECK(refused.exit_code == 2);
        CHECK(has(refused.err, "schedule " + std::string(kind) + " is not built yet"));
    }
    const Outcome limit = run_orrery(
        {"schedule", "gpipe", "--stages", "2", "--microbatches", "4", "--memory-limit", "3"});
    CHECK(limit.exit_code == 2);
    CHECK(has(limit.err, "--memory-limit: is not built yet"));
    const Outcome pair = run_orrery(
        {"schedule", "gpipe", "--stages", "2", "--microbatches", "4", "--costs", "1,1,1,3"});
    CHECK(pair.exit_code == 2);
    CHECK(has(pair.err, "PAIR is of DualPipe, which is not built yet"));
}

TEST_CASE("orrery schedule: the rules of interleaving are checked with their numbers") {
    const Outcome refused = run_orrery({"schedule", "interleaved", "--stages", "4",
                                        "--microbatches", "9", "--virtual", "2", "--group", "8"});
    CHECK(refused.exit_code == 2);
    CHECK(has(refused.err, "microbatches = 9 in groups of 8 leave 1, fewer than stages = 4"));
}

TEST_CASE("orrery schedule: --json writes a whole file and still draws") {
    const TemporaryFolder folder;
    const Outcome drawn = run_orrery({"schedule", "gpipe", "--stages", "2", "--microbatches", "2",
                                      "--json", folder.file("s.json")});
    CHECK(drawn.exit_code == 0);
    CHECK(has(drawn.out, "stage 0"));
    CHECK(Json::parse(read_text(folder.file("s.json"))).at("schema_version") == 1);
    CHECK(folder.names() == std::vector<std::string>{"s.json"});
}

}  // namespace
}  // namespace orrery::test
