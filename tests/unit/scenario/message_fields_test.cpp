// SPDX-License-Identifier: Apache-2.0
#include "scenario/message_fields.hpp"

#include "schema/scenario.pb.h"
#include "tests/catch.hpp"

namespace orrery {

TEST_CASE("what is set above replaces what is set below, lists as a whole") {
    schema::Scenario base;
    base.mutable_plan()->set_tensor(4);
    base.mutable_plan()->set_pipeline(2);
    base.mutable_plan()->add_stage_layers(1);
    base.mutable_plan()->add_recompute_modules("mlp");
    schema::Scenario over;
    over.mutable_plan()->set_tensor(0);  // 0 is a value, not "unset"
    over.mutable_plan()->add_stage_layers(7);
    over.mutable_plan()->add_stage_layers(8);
    merge_over(base, over);
    CHECK(base.plan().tensor() == 0);
    CHECK(base.plan().pipeline() == 2);
    REQUIRE(base.plan().stage_layers_size() == 2);
    CHECK(base.plan().stage_layers(0) == 7);
    CHECK(base.plan().recompute_modules_size() == 1);
}

TEST_CASE("set fields are visited with their paths and values as the text spells them") {
    schema::Scenario message;
    message.mutable_training()->set_precision(schema::Precision::FP8_BLOCK);
    message.mutable_model()->set_dropout(0.25);
    message.mutable_model()->set_name("a \"b\"");
    message.mutable_plan()->add_stage_layers(7);
    message.mutable_plan()->add_stage_layers(9);
    std::vector<std::string> seen;
    for_each_set_field(message, [&seen](const SetField& field) {
        seen.push_back(field.path + "=" + field.value + (field.is_numeric ? "#" : ""));
    });
    CHECK(seen == std::vector<std::string>{"model.name=a \"b\"", "model.dropout=0.25#",
                                           "training.precision=FP8_BLOCK",
                                           "plan.stage_layers[0]=7#", "plan.stage_layers[1]=9#"});
}

TEST_CASE("a field is cleared by its path") {
    schema::Scenario message;
    message.mutable_plan()->set_tensor(4);
    message.mutable_plan()->add_stage_layers(7);
    clear_field(message, "plan.tensor");
    clear_field(message, "plan.stage_layers[0]");
    clear_field(message, "plan.no_such_field");
    CHECK_FALSE(message.plan().has_tensor());
    CHECK(message.plan().stage_layers_size() == 0);
}

}  // namespace orrery
