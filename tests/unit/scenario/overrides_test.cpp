// SPDX-License-Identifier: Apache-2.0
#include "scenario/overrides.hpp"

#include "schema/scenario.pb.h"
#include "tests/catch.hpp"

namespace orrery {
namespace {

std::string errors(const std::vector<Override>& changes) {
    schema::Scenario message;
    TextLocations places;
    return to_string(apply_overrides(changes, message, places));
}

}  // namespace

TEST_CASE("overrides: --set takes dotted names, enum values by name, texts, and lists") {
    schema::Scenario message;
    message.mutable_plan()->set_tensor(2);
    TextLocations places;
    const Diagnostics found = apply_overrides({{"plan.tensor", "8"},
                                               {"plan.recompute", "FULL"},
                                               {"plan.sequence_parallel", "true"},
                                               {"model.preset", "llama3-8b"},
                                               {"model.dropout", "0.1"},
                                               {"name", "a \"quoted\" name"},
                                               {"plan.stage_layers", "[7, 8,8,7]"},
                                               {"plan.stage_layers[1]", "9"},
                                               {"plan.stage_layers[4]", "5"},
                                               {"plan.recompute_modules", "[mlp,moe_act]"}},
                                              message, places);
    INFO(to_string(found));
    REQUIRE(found.empty());
    CHECK(message.plan().tensor() == 8);
    CHECK(message.plan().recompute() == schema::Recompute::FULL);
    CHECK(message.plan().sequence_parallel());
    CHECK(message.model().preset() == "llama3-8b");
    CHECK(message.model().dropout() == 0.1);
    CHECK(message.name() == "a \"quoted\" name");
    const auto& layers = message.plan().stage_layers();
    CHECK(std::vector<std::int64_t>(layers.begin(), layers.end()) ==
          std::vector<std::int64_t>{7, 9, 8, 7, 5});
    CHECK(message.plan().recompute_modules(1) == "moe_act");
    CHECK(places.contains("plan.tensor"));
}

TEST_CASE("the last of two overrides of a field wins, and an empty list clears it") {
    schema::Scenario message;
    TextLocations places;
    REQUIRE(apply_overrides({{"plan.tensor", "8"},
                             {"plan.tensor", "4"},
                             {"plan.stage_layers", "[1,2]"},
                             {"plan.stage_layers", "[]"}},
                            message, places)
                .empty());
    CHECK(message.plan().tensor() == 4);
    CHECK(message.plan().stage_layers_size() == 0);
}

TEST_CASE("bad overrides are told all at once, with the nearest name") {
    const std::string found = errors({{"plan.tensr", "8"},
                                      {"plam.tensor", "8"},
                                      {"plan", "8"},
                                      {"plan.tensor", "eight"},
                                      {"plan.tensor", ""},
                                      {"plan.tensor", "8 pipeline: 4"},
                                      {"plan.tensor[0]", "8"},
                                      {"plan.recompute", "ALL"},
                                      {"plan.stage_layers", "7"},
                                      {"plan.stage_layers[3]", "7"},
                                      {"plan.stage_layers[x]", "7"},
                                      {"plan.tensor.size", "7"}});
    INFO(found);
    CHECK(found.find("--set: plan.tensr: there is no field 'tensr'\n    did you mean 'tensor'?") !=
          std::string::npos);
    CHECK(found.find("--set: plam.tensor: there is no field 'plam'\n    did you mean 'plan'?") !=
          std::string::npos);
    CHECK(found.find("--set: plan: is a group of fields") != std::string::npos);
    CHECK(found.find("plan.tensor: expected integer") != std::string::npos);
    CHECK(found.find("\"8 pipeline: 4\" is not a value") != std::string::npos);
    CHECK(found.find("plan.tensor[0]: 'tensor' is not a list") != std::string::npos);
    CHECK(found.find(
              "\"ALL\" is not a value of this field\n    did you mean 'FULL'? valid: NONE, ") !=
          std::string::npos);
    CHECK(found.find("is a list: expected [a,b,c], got \"7\"") != std::string::npos);
    CHECK(found.find("the list has 0 entries") != std::string::npos);
    CHECK(found.find("expected [i] with a whole number") != std::string::npos);
    CHECK(found.find("'tensor' has no fields") != std::string::npos);
}

TEST_CASE("PATH=VALUE is split at the first sign") {
    CHECK(parse_override("a.b=c=d").value().path == "a.b");
    CHECK(parse_override("a.b=c=d").value().value == "c=d");
    CHECK(parse_override("a.b=").value().value.empty());
    CHECK_FALSE(parse_override("plan.tensor"));
    CHECK_FALSE(parse_override("=8"));
}

}  // namespace orrery
