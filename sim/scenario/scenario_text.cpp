// SPDX-License-Identifier: Apache-2.0
#include "scenario/scenario_text.hpp"

#include "scenario/proto_fields.hpp"
#include "scenario/shipped.hpp"
#include "schema/scenario.pb.h"

#include <google/protobuf/text_format.h>

namespace orrery {
namespace {

std::string profile_path(const std::string& name, const std::string& file) {
    return is_own_file(name) ? path_beside(file, name) : name;
}

}  // namespace

std::string scenario_text(const Scenario& scenario, const schema::Scenario& merged,
                          const std::string& file) {
    schema::Scenario message;
    message.set_name(scenario.name);
    write_model(scenario.model, *message.mutable_model());
    write_training(scenario.training, *message.mutable_training());
    message.mutable_training()->set_framework(merged.training().framework());
    message.mutable_training()->set_framework_release(scenario.framework.release);
    write_cluster(scenario.cluster, *message.mutable_cluster());
    write_plan(scenario.plan, *message.mutable_plan());

    const schema::Profiles& own = merged.profiles();
    if (own.has_gpu()) {
        message.mutable_profiles()->set_gpu(profile_path(own.gpu(), file));
        message.mutable_cluster()->clear_gpu();
    }
    if (own.has_fabric()) {
        message.mutable_profiles()->set_fabric(profile_path(own.fabric(), file));
        message.mutable_cluster()->clear_fabric();
    }
    if (own.has_framework()) {
        message.mutable_profiles()->set_framework(profile_path(own.framework(), file));
    }
    google::protobuf::TextFormat::Printer printer;
    printer.SetUseShortRepeatedPrimitives(true);
    std::string text;
    printer.PrintToString(message, &text);
    return "# Resolved by Orrery: every field is written out.\n" + text;
}

}  // namespace orrery
