// SPDX-License-Identifier: Apache-2.0
#include "scenario/resolve.hpp"

#include "scenario/message_fields.hpp"
#include "scenario/shipped.hpp"
#include "schema/framework_profile.pb.h"
#include "schema/scenario.pb.h"

#include <utility>

namespace orrery {
namespace {

/// Reads the file that `field` names, of `kind`, into `message`. False after an error, which is
/// told.
bool read_named(const std::string& kind, const std::string& name, const std::string& field,
                const std::string& scenario_file, InputSources& sources,
                google::protobuf::Message& message, FrameworkFile& read) {
    const auto file =
        find_shipped(kind, is_own_file(name) ? path_beside(scenario_file, name) : name);
    if (!file) {
        sources.add_error(field, file.error().front().message, file.error().front().hint);
        return false;
    }
    read.file = *file;
    const auto text = read_text_file(*file);
    if (!text) {
        sources.add_error(field, *file + " " + text.error().front().message);
        return false;
    }
    const Diagnostics errors = parse_text(*text, *file, message, &read.places);
    if (!errors.empty()) {
        sources.add_errors(errors);
        sources.mark_bad(field);
    }
    return errors.empty();
}

/// A preset stands for itself: it may not name another.
template <typename Preset>
void merge_preset(const std::string& kind, const std::string& prefix,
                  const std::string& scenario_file, Preset& own, InputSources& sources) {
    if (own.preset().empty()) {
        return;
    }
    Preset preset;
    FrameworkFile read;
    if (!read_named(kind, own.preset(), prefix + "preset", scenario_file, sources, preset, read)) {
        sources.mark_bad(prefix.substr(0, prefix.size() - 1));  // nothing of it is known
        return;
    }
    sources.add_layer(
        {.file = read.file, .places = read.places, .outer = prefix, .inner = "", .what = ""});
    if (preset.has_preset()) {
        const TextPlace place = read.places.find("preset");
        sources.add_errors({Diagnostic{.file = read.file,
                                       .line = place.line,
                                       .column = place.column,
                                       .field = "preset",
                                       .message = "a preset cannot name another"}});
    }
    if (is_own_file(own.preset())) {
        own.set_preset(path_beside(scenario_file, own.preset()));
    }
    merge_over(preset, own);
    own = preset;
}

/// Of two fields that follow from each other, a framework's default gives way where the user set
/// the other.
void yield_defaults(const schema::Scenario& own, schema::FrameworkSettings& settings) {
    schema::Plan& plan = *settings.mutable_plan();
    if (own.plan().has_data_parallel_kind() && !own.plan().has_zero()) {
        plan.clear_zero();
    }
    if (own.plan().has_zero() && !own.plan().has_data_parallel_kind()) {
        plan.clear_data_parallel_kind();
    }
    if (own.plan().has_data_parallel_kind()) {
        plan.clear_reshard_after_forward();
        plan.clear_hybrid_shard_size();
    }
}

void merge_framework(schema::Scenario& scenario, const std::string& scenario_file,
                     InputSources& sources, FrameworkFile& framework,
                     schema::FrameworkSettings& settings, FrameworkProfile& profile) {
    const std::string word = schema::Framework::Kind_Name(scenario.training().framework());
    const std::string name = scenario.profiles().has_framework() ? scenario.profiles().framework()
                                                                 : framework_file_name(word);
    const std::string field =
        scenario.profiles().has_framework() ? "profiles.framework" : "training.framework";
    schema::FrameworkProfile message;
    if (!read_named("frameworks", name, field, scenario_file, sources, message, framework)) {
        return;
    }
    const std::string& release = scenario.training().framework_release();
    const auto prefix = find_release(message, release, settings);
    if (!prefix) {
        sources.add_error("training.framework_release", prefix.error().front().message,
                          prefix.error().front().hint);
        return;
    }
    framework.prefix = *prefix;
    framework.release = release.empty() ? message.release() : release;
    auto read = read_framework(message, settings, framework);
    if (!read) {
        sources.add_errors(read.error());
        return;
    }
    profile = std::move(*read);
    yield_defaults(scenario, settings);
    const std::string what = "a default of " + message.name() + " " + framework.release;
    for (const std::string& inner : {framework.prefix, std::string("settings.")}) {
        for (const std::string outer : {"model.", "training.", "plan."}) {
            sources.add_layer({.file = framework.file,
                               .places = framework.places,
                               .outer = outer,
                               .inner = inner + outer,
                               .what = what});
        }
    }
}

template <typename Part>
void underlay(const Part& defaults, Part& own) {
    Part merged = defaults;
    merge_over(merged, own);
    own = merged;
}

}  // namespace

void merge_presets(schema::Scenario& scenario, const std::string& scenario_file,
                   InputSources& sources, FrameworkFile& framework,
                   schema::FrameworkSettings& settings, FrameworkProfile& profile) {
    merge_preset("models", "model.", scenario_file, *scenario.mutable_model(), sources);
    merge_preset("clusters", "cluster.", scenario_file, *scenario.mutable_cluster(), sources);
    merge_framework(scenario, scenario_file, sources, framework, settings, profile);
    underlay(settings.model(), *scenario.mutable_model());
    underlay(settings.training(), *scenario.mutable_training());
    underlay(settings.plan(), *scenario.mutable_plan());
}

}  // namespace orrery
