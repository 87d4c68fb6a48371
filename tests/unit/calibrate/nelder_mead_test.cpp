// SPDX-License-Identifier: Apache-2.0
#include "calibrate/fit/nelder_mead.hpp"

#include "tests/catch.hpp"

#include <cmath>

using namespace orrery;  // NOLINT(google-build-using-namespace)

TEST_CASE("the simplex finds the bottom of Rosenbrock's valley at (1, 1)") {
    const auto valley = [](const std::vector<double>& x) {
        return 100.0 * std::pow(x[1] - x[0] * x[0], 2) + std::pow(1.0 - x[0], 2);
    };
    const std::vector<double> best = minimise(valley, {-1.2, 1.0}, {0.5, 0.5}, 2000);
    CHECK(best[0] == Approx(1.0).margin(1e-3));
    CHECK(best[1] == Approx(1.0).margin(1e-3));
}

TEST_CASE("a place without a value is not a minimum") {
    const auto half = [](const std::vector<double>& x) { return x[0] < 2.0 ? NAN : x[0]; };
    CHECK(minimise(half, {5.0}, {1.0}, 400)[0] == Approx(2.0).margin(1e-3));
}

TEST_CASE("quality: errors of predictions against measurements") {
    // Measured 1.0 and 2.0, predicted 1.1 and 1.8.
    const FitQuality quality = quality_of({std::log(1.0 / 1.1), std::log(2.0 / 1.8)});
    CHECK(quality.mean_error == Approx(0.1));
    CHECK(quality.sigma == Approx(0.5 * (std::log(1.1) + std::log(2.0 / 1.8))));
    CHECK(quality_of({}).points == 0);
    CHECK(median({5.0, 1.0, 3.0}) == 3.0);
    CHECK(median({4.0, 1.0, 3.0, 2.0}) == 2.5);
}
