// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

namespace orrery {

/// Least of `objective` by the downhill simplex, started at `start` with edges `step`, restarted
/// once from where it ended. Deterministic. Requires: start.size() == step.size() >= 1, and a
/// finite objective at `start`. Source: Nelder and Mead, The Computer Journal 7 (1965), with
/// coefficients 1, 2, 1/2, 1/2.
[[nodiscard]] std::vector<double> minimise(
    const std::function<double(const std::vector<double>&)>& objective, std::vector<double> start,
    const std::vector<double>& step, int most_evaluations = 1000);

/// How well a fit meets measurements.
struct FitQuality {
    double mean_error = 0.0;  ///< mean of |predicted / measured − 1|
    double sigma = 0.0;       ///< standard deviation of ln(measured / predicted)
    std::size_t points = 0;
};

/// From ln(measured / predicted) of each point.
[[nodiscard]] FitQuality quality_of(const std::vector<double>& log_residuals);

/// The middle value (the mean of the two middle ones). Requires: not empty.
[[nodiscard]] double median(std::vector<double> values);

}  // namespace orrery
