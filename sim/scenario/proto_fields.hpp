// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cluster/cluster.hpp"
#include "model/training.hpp"
#include "model/transformer.hpp"
#include "plan/plan.hpp"
#include "scenario/input_sources.hpp"

#include <cstdint>
#include <string>

namespace orrery::schema {
class Cluster;
class Model;
class Plan;
class Training;
}  // namespace orrery::schema

namespace orrery {

/// The schema's messages as structs, and back. `read_` fills in the last defaults and sends what is
/// missing or contradicts itself to `sources`; what it returns then is still safe to check rules
/// on. `write_` sets every field that the struct has, so that reading it again gives the same
/// struct whatever the defaults. Requires of `read_`: check_fields ran; a field in error was
/// cleared.
[[nodiscard]] Transformer read_model(const schema::Model& message, InputSources& sources);
void write_model(const Transformer& model, schema::Model& message);

[[nodiscard]] Training read_training(const schema::Training& message, InputSources& sources);
void write_training(const Training& training, schema::Training& message);

/// Names and counts; link fits come from the profiles.
[[nodiscard]] Cluster read_cluster(const schema::Cluster& message, InputSources& sources);
void write_cluster(const Cluster& cluster, schema::Cluster& message);

/// What a plan's defaults depend on.
struct PlanDefaults {
    const Transformer& model;
    const Training& training;
    std::int64_t gpus = 1;
    std::string scenario_file;  ///< plan.schedule_file is relative to it
};

[[nodiscard]] Plan read_plan(const schema::Plan& message, const PlanDefaults& defaults,
                             InputSources& sources);
void write_plan(const Plan& plan, schema::Plan& message);

}  // namespace orrery
