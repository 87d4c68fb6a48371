// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/diagnostic.hpp"
#include "cost/cost_table.hpp"
#include "cost/profile.hpp"
#include "model/training.hpp"
#include "model/transformer.hpp"
#include "plan/plan.hpp"
#include "program/program.hpp"

namespace orrery {

struct BuiltPrograms {
    ProgramSet programs;
    CostTable costs;
};

/// What is wrong with a plan that only its schedule's order shows: an order from a file that does
/// not parse, cannot finish, or is not of the plan's stages, chunks and micro-batches. Empty when
/// all is well.
[[nodiscard]] Diagnostics check_schedule(const Plan& plan, const Training& training);

/// The whole way from a plan to Programs, in the order in which the strategies apply: layers to
/// virtual stages, tensor and sequence parallelism, recomputation, the schedule's order, data
/// parallelism, the end of the step. Requires: the plan passed check_plan.
[[nodiscard]] BuiltPrograms build_programs(const Transformer& model, const Training& training,
                                           const Plan& plan, const FrameworkProfile& framework,
                                           const KernelTimes& times, Seconds kernel_gap);

}  // namespace orrery
