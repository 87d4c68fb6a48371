// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "strategies/schedule/order_timing.hpp"
#include "strategies/schedule/schedule.hpp"

#include <string>

namespace orrery {

/// One row a stage, time to the right: each pass as a box that begins with its name ("F3",
/// "BW3.1"), a dot for an idle column. As wide as the names need, at most `width` columns; where
/// that is too narrow, names shrink to their letter. Requires: the timing is of this order.
[[nodiscard]] std::string draw_schedule(const PipelineOrder& order, const OrderTiming& timing,
                                        int width, bool with_colour);

}  // namespace orrery
