// SPDX-License-Identifier: Apache-2.0
#include "plan/plan_rules.hpp"
#include "scenario/field_rules.hpp"
#include "scenario/framework_reader.hpp"
#include "scenario/input_sources.hpp"
#include "scenario/message_fields.hpp"
#include "scenario/overrides.hpp"
#include "scenario/profile_reader.hpp"
#include "scenario/proto_fields.hpp"
#include "scenario/resolve.hpp"
#include "scenario/scenario.hpp"
#include "scenario/scenario_text.hpp"
#include "scenario/shipped.hpp"
#include "scenario/text_format.hpp"
#include "schema/framework_profile.pb.h"
#include "schema/scenario.pb.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <utility>

namespace orrery {
namespace {

/// A misspelt field was meant: what is checked against its default would only confuse.
void mark_meant_fields(const Diagnostics& errors, InputSources& sources) {
    constexpr std::string_view kStart = "did you mean '";
    for (const Diagnostic& error : errors) {
        const std::size_t end = error.hint.find('\'', kStart.size());
        if (error.hint.starts_with(kStart) && end != std::string::npos) {
            const std::string parent = error.field.substr(0, error.field.rfind('.') + 1);
            sources.mark_bad(parent + error.hint.substr(kStart.size(), end - kStart.size()));
        }
    }
}

/// Clears every field that is in error, so that what is read from the rest makes sense.
void clear_bad_fields(schema::Scenario& scenario, const InputSources& sources) {
    std::vector<std::string> bad;
    for_each_set_field(scenario, [&](const SetField& field) {
        if (sources.is_any_bad({field.path})) {
            bad.push_back(field.path);
        }
    });
    for (const std::string& path : bad) {
        clear_field(scenario, path);
    }
}

/// A profile's name or absolute path.
std::string profile_name(const std::string& name, const std::string& scenario_file) {
    return is_own_file(name) ? path_beside(scenario_file, name) : name;
}

/// Errors of a profile that have no place of their own are told where the scenario names it.
void add_profile_errors(const Diagnostics& errors, const std::string& path, InputSources& sources) {
    for (const Diagnostic& error : errors) {
        if (error.line == 0 && error.file.empty()) {
            sources.add_error(path, error.message, error.hint);
        } else {
            sources.add_errors({error});
            sources.mark_bad(path);
        }
    }
}

struct ProfileChoice {
    std::string path;  ///< the field that names it
    std::string name;
};

/// profiles.KIND where set, else the cluster's. Errors: both set by the user; neither set at all.
ProfileChoice choose_profile(bool has_own, const std::string& own, const std::string& of_cluster,
                             const std::string& kind, InputSources& sources) {
    const std::string own_path = "profiles." + kind;
    const std::string cluster_path = "cluster." + kind;
    if (has_own && sources.is_set_by_user(cluster_path)) {
        sources.add_error(own_path, "cluster." + kind + " names a profile, too",
                          "set one of the two");
    }
    if (!has_own && of_cluster.empty() && !sources.is_any_bad({cluster_path, "cluster.preset"})) {
        sources.add_error(cluster_path, "is required",
                          "name a cluster.preset, or the " + kind + " itself");
    }
    return has_own ? ProfileChoice{own_path, own} : ProfileChoice{cluster_path, of_cluster};
}

void load_profiles(const schema::Scenario& merged, const std::string& file, Scenario& scenario,
                   InputSources& sources) {
    const schema::Profiles& own = merged.profiles();
    const ProfileChoice gpu =
        choose_profile(own.has_gpu(), own.gpu(), merged.cluster().gpu(), "gpu", sources);
    const ProfileChoice fabric = choose_profile(own.has_fabric(), own.fabric(),
                                                merged.cluster().fabric(), "fabric", sources);
    if (!gpu.name.empty()) {
        if (auto loaded = load_gpu_profile(profile_name(gpu.name, file))) {
            scenario.gpu = std::move(loaded->profile);
            scenario.cluster.gpu = scenario.gpu.name;
            scenario.cluster.nvlink = loaded->nvlink;
            scenario.cluster.nvlink_bandwidth = loaded->nvlink_bandwidth;
        } else {
            add_profile_errors(loaded.error(), gpu.path, sources);
        }
    }
    if (fabric.name.empty() || scenario.gpu.name.empty()) {
        return;
    }
    if (auto loaded = load_fabric_profile(profile_name(fabric.name, file), scenario.gpu.name)) {
        scenario.cluster.fabric = loaded->name;
        scenario.cluster.nic = loaded->nic;
        scenario.cluster.nic_bandwidth = loaded->nic_bandwidth;
        if (!merged.cluster().has_nics_per_node()) {
            scenario.cluster.nics_per_node = loaded->nics_per_node;
        }
    } else {
        add_profile_errors(loaded.error(), fabric.path, sources);
    }
}

void check_rules(const Scenario& scenario, InputSources& sources) {
    const PlanContext context{.plan = scenario.plan,
                              .model = scenario.model,
                              .training = scenario.training,
                              .cluster = scenario.cluster};
    std::vector<RuleViolation> violations = check_plan(context);
    std::erase_if(violations, [&sources](const RuleViolation& violation) {
        return sources.is_any_bad(violation.reads);
    });
    // Where plan.data is left open and nothing fits, what follows from the guess would only
    // confuse.
    const bool is_data_open =
        !sources.is_set_by_user("plan.data") &&
        std::ranges::find(violations, "plan.data", &RuleViolation::field) != violations.end();
    std::erase_if(violations, [is_data_open](const RuleViolation& violation) {
        return is_data_open && violation.field != "plan.data" &&
               std::ranges::find(violation.reads, "plan.data") != violation.reads.end();
    });
    for (const RuleViolation& violation : violations) {
        sources.add_error(violation.field, violation.reads, violation.message, violation.hint);
    }
}

/// What was taken where the user left something open.
std::vector<std::string> notes_of(const Scenario& scenario, const schema::Scenario& merged,
                                  const InputSources& sources) {
    std::vector<std::string> notes = plan_notes({.plan = scenario.plan,
                                                 .model = scenario.model,
                                                 .training = scenario.training,
                                                 .cluster = scenario.cluster});
    if (!sources.is_set_by_user("cluster.nodes") && !sources.is_set_by_user("cluster.gpus")) {
        notes.push_back(
            fmt::format("cluster.nodes is unset: one node of {} GPUs", scenario.cluster.gpus));
    }
    if (!sources.is_set_by_user("training.framework_release")) {
        notes.push_back(fmt::format("framework {} {}, the newest that its profile knows",
                                    scenario.framework.name, scenario.framework.release));
    }
    if (merged.plan().sequence_parallel() && sources.is_set_by_user("plan.sequence_parallel") &&
        !scenario.plan.sequence_parallel) {
        notes.push_back("plan.sequence_parallel does nothing with plan.tensor = 1");
    }
    return notes;
}

/// Fields → structs, profiles and rules. `merged` is what scenario, presets and framework say.
Scenario read_merged(schema::Scenario& merged, const std::string& file, InputSources& sources) {
    Scenario scenario;
    scenario.name = merged.has_name() ? merged.name() : std::filesystem::path(file).stem().string();
    scenario.model = read_model(merged.model(), sources);
    scenario.training = read_training(merged.training(), sources);
    if (scenario.model.position == PositionKind::Learned && !merged.model().has_max_positions()) {
        scenario.model.max_positions = scenario.training.sequence_length;
    }
    scenario.cluster = read_cluster(merged.cluster(), sources);
    scenario.plan = read_plan(merged.plan(),
                              {.model = scenario.model,
                               .training = scenario.training,
                               .gpus = scenario.cluster.gpus,
                               .scenario_file = file},
                              sources);
    load_profiles(merged, file, scenario, sources);
    check_rules(scenario, sources);
    return scenario;
}

}  // namespace

Expected<Scenario> parse_scenario(const std::string& text, const std::string& file,
                                  const std::vector<Override>& overrides) {
    schema::Scenario merged;
    TextLocations places;
    TextLocations set_places;
    Diagnostics errors = parse_text(text, file, merged, &places);
    const Diagnostics set_errors = apply_overrides(overrides, merged, set_places);
    // A syntax error (no field) hides what follows it: rules would blame what could not be read.
    const bool is_unread =
        std::ranges::any_of(errors, [](const Diagnostic& error) { return error.field.empty(); });
    errors.insert(errors.end(), set_errors.begin(), set_errors.end());
    if (is_unread) {
        return fail(std::move(errors));
    }

    InputSources sources;
    sources.add_layer(
        {.file = "--set", .places = set_places, .outer = "", .inner = "", .what = ""});
    sources.add_layer({.file = file, .places = places, .outer = "", .inner = "", .what = ""});
    sources.add_errors(errors);
    mark_meant_fields(errors, sources);

    FrameworkFile framework;
    FrameworkProfile profile;
    schema::FrameworkSettings settings;
    merge_presets(merged, file, sources, framework, settings, profile);
    check_fields(merged, sources);
    clear_bad_fields(merged, sources);
    Scenario scenario = read_merged(merged, file, sources);
    scenario.framework = std::move(profile);
    if (sources.has_errors()) {
        return fail(sources.take_errors());
    }
    scenario.notes = notes_of(scenario, merged, sources);
    scenario.text = scenario_text(scenario, merged, file);
    return scenario;
}

Expected<Scenario> load_scenario(const std::string& file, const std::vector<Override>& overrides) {
    ORRERY_TRY(text, read_text_file(file));
    return parse_scenario(text, file, overrides);
}

}  // namespace orrery
