// SPDX-License-Identifier: Apache-2.0
#include "scenario/message_fields.hpp"
#include "scenario/shipped.hpp"
#include "scenario/text_format.hpp"
#include "schema/framework_profile.pb.h"
#include "tests/catch.hpp"
#include "text_of_scenario.hpp"

#include <string>
#include <vector>

namespace orrery::test {
namespace {

schema::FrameworkProfile read(const std::string& name) {
    const auto file = find_shipped("frameworks", name);
    REQUIRE(file);
    const auto text = read_text_file(*file);
    REQUIRE(text);
    schema::FrameworkProfile profile;
    const Diagnostics errors = parse_text(*text, *file, profile, nullptr);
    INFO(to_string(errors));
    REQUIRE(errors.empty());
    return profile;
}

}  // namespace

TEST_CASE("every word of training.framework has a profile that can price a run") {
    for (const char* word : {"MEGATRON", "MEGATRON_DEEPSPEED", "TORCHTITAN", "LLM_FOUNDRY",
                             "DEEPSPEED", "NEMO", "OTHER"}) {
        INFO(word);
        const Scenario scenario =
            load({std::string("training.framework=") + word, "plan.data_parallel_kind=DDP",
                  "training.recipe=FP32_MAIN_GRADS"});
        CHECK(scenario.framework.kernel_launch > Seconds(1e-6));
        CHECK(scenario.framework.kernel_launch < Seconds(1e-3));
        CHECK(scenario.framework.framework_memory > Bytes(0.25 * 1073741824.0));
        CHECK(scenario.framework.framework_memory < Bytes(1.0 * 1073741824.0));
        CHECK(scenario.framework.attention_factor >= 1.0);
    }
}

TEST_CASE("every constant of a framework says where it comes from and how far to trust it") {
    for (const std::string& name : shipped_names("frameworks")) {
        const schema::FrameworkProfile profile = read(name);
        CHECK_FALSE(profile.summary().empty());
        CHECK_FALSE(profile.source().empty());
        CHECK_FALSE(profile.release().empty());
        int values = 0;
        int origins = 0;
        int trusts = 0;
        for_each_set_field(profile, [&](const SetField& field) {
            values += field.path.ends_with(".value") ? 1 : 0;
            origins += field.path.ends_with(".origin") && !field.value.empty() ? 1 : 0;
            trusts += field.path.ends_with(".trust") ? 1 : 0;
        });
        INFO(name);
        CHECK(values >= 8);
        CHECK(origins == values);
        CHECK(trusts == values);
    }
}

TEST_CASE("NVIDIA's releases of the published runs are known to MEGATRON") {
    for (const char* release :
         {"26.02", "26.02.01", "26.04", "26.04.01", "26.06", "26.06.01", "26.08", "2026-05"}) {
        CHECK(errors_of({std::string("training.framework_release=") + release}).empty());
    }
}

}  // namespace orrery::test
