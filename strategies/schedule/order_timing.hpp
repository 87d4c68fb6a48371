// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "strategies/schedule/schedule.hpp"

#include <optional>
#include <string>
#include <vector>

namespace orrery {

/// Costs of one chunk, in any unit. `p2p` is the time of a message between ranks.
struct PassCosts {
    double forward = 1.0;
    double input_gradient = 1.0;
    double weight_gradient = 1.0;
    double p2p = 0.0;
};

struct TimedPass {
    Pass pass;
    double start = 0.0;
    double end = 0.0;
};

/// What an order takes by data flow alone: a rank runs its list in order, a pass starts when the
/// rank is free and its inputs are there, sends never block.
struct OrderTiming {
    double makespan = 0.0;
    std::vector<double> span;                            ///< first start to last end, by rank
    std::vector<double> bubble;                          ///< span − work
    std::vector<double> idle;                            ///< makespan − work
    std::vector<std::int64_t> peak_activations;          ///< chunks alive until W ends
    std::vector<std::int64_t> peak_activations_until_b;  ///< chunks alive until B ends
    std::vector<std::pair<std::int64_t, std::int64_t>> messages;  ///< activations, gradients sent
    std::vector<std::vector<TimedPass>> passes;
};

/// Errors: an order that cannot finish, with who waits for what.
[[nodiscard]] Expected<OrderTiming> time_order(const PipelineOrder& order, const PassCosts& costs);

}  // namespace orrery
