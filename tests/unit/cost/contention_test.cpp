// SPDX-License-Identifier: Apache-2.0
#include "cost/contention.hpp"

#include "tests/catch.hpp"

using namespace orrery;  // NOLINT(google-build-using-namespace)

TEST_CASE("a kernel alone keeps its speed") {
    const Contention contention(132, 0.96, 0.92);
    CHECK(contention.slowdown(false, 0) == Contention::kOne);
    CHECK(contention.slowdown(true, 0) == Contention::kOne);
}

TEST_CASE("a product beside a collective loses the SMs taken and the residual") {
    // DeepSeek's trace: 20 of 132 SMs, 0 to 8% slower per free SM.
    const Contention contention(132, 0.96, 0.92);
    CHECK(contention.slowdown(false, 20) == Approx(65536.0 / (112.0 / 132.0 * 0.96)).margin(1.0));
    CHECK(contention.slowdown(true, 20) == Approx(65536.0 / 0.92).margin(1.0));
}

TEST_CASE("collectives never stop a kernel altogether") {
    const Contention contention(100, 1.0, 1.0);
    CHECK(contention.slowdown(false, 1000) == Approx(65536.0 / 0.05).margin(1.0));
    CHECK(contention.slowdown(false, 1) > Contention::kOne);
}
