// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plan/plan.hpp"
#include "strategies/schedule/schedule.hpp"

#include <cstdint>

namespace orrery {

/// The order that a plan's schedule gives for `microbatches`.
/// Errors: of ScheduleKind::File, an order that does not parse, cannot finish, or is not of the
/// plan's stages, chunks and micro-batches.
[[nodiscard]] Expected<PipelineOrder> plan_order(const Plan& plan, std::int64_t microbatches);

}  // namespace orrery
