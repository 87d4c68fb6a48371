// SPDX-License-Identifier: Apache-2.0
#include "strategies/schedule/order_timing.hpp"
#include "tests/catch.hpp"

namespace orrery {
namespace {

std::vector<std::string> printed(const PipelineOrder& order) {
    std::vector<std::string> lines;
    for (const auto& passes : order.ranks) {
        std::string line;
        for (const Pass& pass : passes) {
            line += to_string(pass, order.virtual_stages > 1) + " ";
        }
        lines.push_back(line);
    }
    return lines;
}

Diagnostics errors(const std::vector<std::string>& lines) {
    const auto order = parse_order(lines, "my.order");
    REQUIRE_FALSE(order);
    return order.error();
}

TEST_CASE("an order printed and parsed is the same order") {
    for (const PipelineOrder& order :
         {gpipe_order(3, 5), one_f_one_b_order(4, 6), interleaved_order(4, 3, 8, 4, 0)}) {
        const auto again = parse_order(printed(order), "round.trip");
        REQUIRE(again);
        CHECK(again->ranks == order.ranks);
        CHECK(again->stages == order.stages);
        CHECK(again->virtual_stages == order.virtual_stages);
        CHECK(again->microbatches == order.microbatches);
    }
}

TEST_CASE("comments, empty lines and split backwards are read") {
    const auto order =
        parse_order({"# two stages", "", "F0 F1 B0 W0 BW1  # first", "\tF0,B0,F1,B1,W0,W1"}, "f");
    REQUIRE(order);
    CHECK(order->stages == 2);
    CHECK(order->microbatches == 2);
    CHECK(to_string(order->ranks[1][3], false) == "B1");
    CHECK(order->ranks[0][3].kind == PassKind::WeightGradient);
}

TEST_CASE("words that are no passes are all told, with line and column") {
    const Diagnostics wrong = errors({"F0 X1 BW0", "  F-1 BW0. F 0"});
    REQUIRE(wrong.size() == 5);
    CHECK(wrong[0].file == "my.order");
    CHECK(wrong[0].line == 1);
    CHECK(wrong[0].column == 4);
    CHECK(wrong[0].message == "'X1' is not a pass");
    CHECK(wrong[1].line == 2);
    CHECK(wrong[1].column == 3);
    CHECK(wrong[2].column == 7);
    CHECK(wrong[3].column == 12);
}

TEST_CASE("a pass that comes twice, too early or never is told at its place") {
    const Diagnostics twice = errors({"F0 F0 BW0"});
    REQUIRE(twice.size() == 1);
    CHECK(twice[0].column == 4);
    CHECK(twice[0].message == "F0 comes twice");

    const Diagnostics early = errors({"BW0 F0 BW0"});
    REQUIRE(early.size() == 1);
    CHECK(early[0].column == 1);
    CHECK(early[0].message == "BW0 comes before its forward");

    const Diagnostics weight = errors({"F0 W0 B0 W0"});
    REQUIRE(weight.size() == 1);
    CHECK(weight[0].message == "W0 comes before its input gradient");

    const Diagnostics missing = errors({"F0 F1 BW0 BW1", "F0 BW0 F1"});
    REQUIRE(missing.size() == 1);
    CHECK(missing[0].line == 2);
    CHECK(missing[0].column == 8);
    CHECK(missing[0].message ==
          "BW1 is missing: the order has 2 micro-batches of 1 chunks a stage");

    CHECK(errors({"F0 B0"}).front().message.substr(0, 13) == "W0 is missing");
    CHECK(errors({"F0 BW0 B0"}).front().message == "B0 comes twice");
    CHECK(errors({"F2000000000 BW2000000000"}).size() == 1);
    CHECK(errors({}).front().message == "the order has no passes");
}

TEST_CASE("an order that cannot finish says which stage waits for what") {
    const auto order = parse_order({"F0 BW0 F1 BW1", "F1 F0 BW0 BW1"}, "f");
    REQUIRE(order);
    const auto timing = time_order(*order, {});
    REQUIRE_FALSE(timing);
    REQUIRE(timing.error().size() == 2);
    CHECK(timing.error()[0].message == "stage 0 cannot go on: BW0 waits for BW0 on stage 1");
    CHECK(timing.error()[1].message == "stage 1 cannot go on: F1 waits for F1 on stage 0");
}

}  // namespace
}  // namespace orrery
