// SPDX-License-Identifier: Apache-2.0
#include "scenario/text_format.hpp"

#include "schema/scenario.pb.h"
#include "tests/catch.hpp"

namespace orrery {
namespace {

std::string errors(const std::string& text) {
    schema::Scenario message;
    return to_string(parse_text(text, "f", message, nullptr));
}

}  // namespace

TEST_CASE("a correct text is read with the place of every field") {
    schema::Scenario message;
    TextLocations places;
    const std::string text =
        "# comment\n"
        "name: \"x\"\n"
        "plan {\n"
        "  tensor: 8  stage_layers: [7, 8]\n"
        "\tpipeline: 2\n"
        "}\n";
    REQUIRE(parse_text(text, "f", message, &places).empty());
    CHECK(message.plan().tensor() == 8);
    CHECK(places.find("name") == TextPlace{.line = 2, .column = 1});
    CHECK(places.find("plan.tensor") == TextPlace{.line = 4, .column = 3});
    CHECK(places.find("plan.stage_layers").line == 4);
    CHECK(places.find("plan.pipeline") == TextPlace{.line = 5, .column = 2});
    CHECK(places.find("plan.stage_layers[1]").line == 4);
    CHECK_FALSE(places.contains("plan.data"));
    CHECK(places.find("plan.data") == TextPlace{.line = 3, .column = 1});
    CHECK(places.find("training.seed") == TextPlace{});
}

TEST_CASE("an unknown field is told at its name, with the nearest one") {
    CHECK(errors("plan {\n  tensr: 8\n}\n") ==
          "f:2:3: plan.tensr: there is no field of this name\n    did you mean 'tensor'?\n");
    CHECK(errors("plann { tensor: 8 }") ==
          "f:1:1: plann: there is no field of this name\n    did you mean 'plan'?\n");
}

TEST_CASE("an unknown enum value is told at the value, with all valid ones") {
    CHECK(errors("plan {\n  recompute: FULLY\n  tensor: 8\n}\n") ==
          "f:2:14: plan.recompute: \"FULLY\" is not a value of this field\n"
          "    did you mean 'FULL'? valid: NONE, SELECTIVE, FULL\n");
    CHECK(errors("plan { recompute: 7 }") ==
          "f:1:8: plan.recompute: 7 is not a value of this field\n"
          "    valid: NONE, SELECTIVE, FULL\n");
}

TEST_CASE("all errors of a file are told at once") {
    const std::string text =
        "model { preset: \"llama3-70b\" layrs: 3 }\n"
        "training {\n"
        "  sequence_length: \"long\"\n"
        "  precision: BF17\n"
        "  micro_batch: 1\n"
        "  micro_batch: 2\n"
        "  compile: maybe\n"
        "}\n"
        "plan { tensor: 99999999999999999999 }\n"
        "nonsense { a: 1 b { c: [1, 2] } }\n"
        "cluster: 3\n";
    const std::string found = errors(text);
    INFO(found);
    CHECK(std::count(found.begin(), found.end(), '\n') >= 8);
    CHECK(found.find("f:1:30: model.layrs: there is no field of this name") != std::string::npos);
    CHECK(found.find("f:3:20: training.sequence_length: expected integer") != std::string::npos);
    CHECK(found.find("f:4:14: training.precision: \"BF17\" is not a value") != std::string::npos);
    CHECK(found.find("f:6:3: training.micro_batch: is set twice") != std::string::npos);
    CHECK(found.find("f:7:12: training.compile: ") != std::string::npos);
    CHECK(found.find("f:9:16: plan.tensor: integer out of range") != std::string::npos);
    CHECK(found.find("f:10:1: nonsense: there is no field") != std::string::npos);
    CHECK(found.find("f:11:10: cluster: expected \"{\"") != std::string::npos);
}

TEST_CASE("fields beside an error are still read") {
    schema::Scenario message;
    REQUIRE(parse_text("plan { tensr: 8 pipeline: 4 }", "f", message, nullptr).size() == 1);
    CHECK(message.plan().pipeline() == 4);
}

TEST_CASE("a broken bracket or quote is one error with its line") {
    CHECK(errors("plan {\n  tensor: 8\n").starts_with("f:3:1: "));
    CHECK(errors("name: \"x\nplan { }\n").starts_with("f:1:"));
    CHECK_FALSE(errors("}").empty());
    CHECK_FALSE(errors("plan { tensor: 8 >").empty());
}

TEST_CASE("too deep a nesting, too long a text and nothing at all end well") {
    std::string deep;
    for (int i = 0; i < 100'000; ++i) {
        deep += "plan {";
    }
    CHECK_FALSE(errors(deep).empty());
    CHECK(errors(std::string(17U << 20U, ' ')) == "f: is larger than 16 MiB\n");
    CHECK(errors("").empty());
}

TEST_CASE("at most 50 errors are told") {
    std::string text;
    for (int i = 0; i < 80; ++i) {
        text += "bad" + std::to_string(i) + ": 1\n";
    }
    schema::Scenario message;
    const Diagnostics found = parse_text(text, "f", message, nullptr);
    CHECK(found.size() == 51);
    CHECK(found.back().message == "has more errors than these");
}

}  // namespace orrery
