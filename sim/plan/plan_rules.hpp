// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cluster/cluster.hpp"
#include "model/training.hpp"
#include "model/transformer.hpp"
#include "plan/plan.hpp"

#include <string>
#include <vector>

namespace orrery {

/// A rule that a plan breaks, told with its numbers.
struct RuleViolation {
    std::string field{};               ///< the field to change first: "plan.tensor"
    std::vector<std::string> reads{};  ///< all fields that the rule looked at, `field` included
    std::string message{};
    std::string hint{};
};

/// What a plan is checked against.
struct PlanContext {
    const Plan& plan;
    const Transformer& model;
    const Training& training;
    const Cluster& cluster;
};

/// Every rule that the resolved plan breaks; empty when it can be run.
/// Sources: Megatron-LM megatron/training/arguments.py and core/pipeline_parallel/schedules.py
/// (degrees, interleaving), core/parallel_state.py (mesh), core/transformer (heads, groups and FFN
/// by tensor). Requires: every degree, batch and dimension is >= 1 and below 2^31.
[[nodiscard]] std::vector<RuleViolation> check_plan(const PlanContext& context);

/// What is allowed and worth knowing: a tensor group beyond NVLink, uneven stages, ….
[[nodiscard]] std::vector<std::string> plan_notes(const PlanContext& context);

}  // namespace orrery
