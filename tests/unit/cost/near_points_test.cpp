// SPDX-License-Identifier: Apache-2.0
#include "cost/near_points.hpp"

#include "tests/catch.hpp"

using namespace orrery;  // NOLINT(google-build-using-namespace)

namespace {

/// Residuals of a 5×5×5 grid of step 0.5 octaves, from a function of the coordinates.
template <typename F>
NearPoints grid_of(F residual) {
    NearPoints points;
    for (int i = 0; i < 125; ++i) {
        const NearPoints::Coordinates x{10.0 + 0.5 * (i / 25), 10.0 + 0.5 * (i / 5 % 5),
                                        10.0 + 0.5 * (i % 5)};
        points.add(x, residual(x));
    }
    return points;
}

}  // namespace

TEST_CASE("a residual that is the same everywhere is found again anywhere inside") {
    const NearPoints points = grid_of([](const auto&) { return 0.2; });
    const auto estimate = points.estimate({11.1, 10.9, 11.3});
    REQUIRE(estimate);
    CHECK(estimate->residual == Approx(0.2));
    CHECK(estimate->sigma == Approx(0.0).margin(1e-9));
}

TEST_CASE("a residual that grows along one coordinate is met between the points") {
    const NearPoints points = grid_of([](const auto& x) { return 0.1 * (x[1] - 10.0); });
    const auto estimate = points.estimate({11.0, 11.25, 11.0});
    REQUIRE(estimate);
    CHECK(estimate->residual == Approx(0.125).margin(0.005));
}

TEST_CASE("nothing is estimated outside the range, nor where no neighbour is within an octave") {
    const NearPoints points = grid_of([](const auto&) { return 0.0; });
    CHECK_FALSE(points.estimate({9.9, 11.0, 11.0}));
    CHECK_FALSE(points.estimate({11.0, 11.0, 12.1}));
    NearPoints far;
    far.add({5.0, 5.0, 5.0}, 0.0);
    far.add({10.0, 10.0, 10.0}, 0.0);
    far.add({15.0, 15.0, 15.0}, 0.0);
    CHECK_FALSE(far.estimate({7.5, 7.5, 7.5}));
    CHECK_FALSE(NearPoints().estimate({1.0, 1.0, 1.0}));
}

TEST_CASE("neighbours on one side only are no interpolation") {
    NearPoints points;
    for (const double x : {10.0, 10.3, 10.6, 14.0}) {
        points.add({x, 10.0, 10.0}, 0.0);
    }
    CHECK(points.estimate({10.5, 10.0, 10.0}));
    CHECK_FALSE(points.estimate({11.0, 10.0, 10.0}));
}

TEST_CASE("the order of the points does not reach the answer") {
    NearPoints forward;
    NearPoints backward;
    for (int i = 0; i < 40; ++i) {
        const int j = 39 - i;
        forward.add({10.0 + 0.05 * i, 10.0 + 0.1 * (i % 7), 10.0}, 0.01 * (i % 5));
        backward.add({10.0 + 0.05 * j, 10.0 + 0.1 * (j % 7), 10.0}, 0.01 * (j % 5));
    }
    const NearPoints::Coordinates x{10.93, 10.31, 10.0};
    CHECK(forward.estimate(x)->residual == backward.estimate(x)->residual);
}

TEST_CASE("a point left out does not speak for itself") {
    NearPoints points = grid_of([](const auto&) { return 0.0; });
    points.add({11.1, 11.1, 11.1}, 5.0);
    CHECK(points.estimate({11.1, 11.1, 11.1})->residual > 0.1);
    CHECK(points.estimate({11.1, 11.1, 11.1}, points.size() - 1)->residual ==
          Approx(0.0).margin(1e-9));
}
