// SPDX-License-Identifier: Apache-2.0
#include "engine/host_thread.hpp"

#include "program/builder.hpp"
#include "tests/catch.hpp"
#include "tests/unit/engine/toy.hpp"

using namespace orrery;  // NOLINT(google-build-using-namespace)
using toy::us;

TEST_CASE("issues follow each other at the launch cost, and from the end of a stop") {
    ProgramSetBuilder shared;
    ProgramBuilder builder(shared, 0);
    for (int i = 0; i < 6; ++i) {
        builder.kernel(CostId(1U), shared.name("k"));
    }
    const Program program = builder.take();
    std::array<SimTime, kNumLaunchClasses> costs{};
    costs[static_cast<std::size_t>(LaunchClass::Kernel)] = us(2);
    const ProgramLayout layout = lay_out(program, costs, 1024);
    HostThread host;
    host.begin_step(us(100));
    host.issue_until(3);
    CHECK(host.issue_time(layout, 0) == us(102));
    CHECK(host.issue_time(layout, 2) == us(106));
    host.resume(layout, us(150), std::nullopt);
    host.issue_until(6);
    CHECK(host.issue_time(layout, 3) == us(152));
    CHECK(host.issue_time(layout, 5) == us(156));
    CHECK(host.issue_time(layout, 2) == us(106));
}

TEST_CASE("a stop that is over before the host arrives delays nothing") {
    ProgramSetBuilder shared;
    ProgramBuilder builder(shared, 0);
    builder.kernel(CostId(1U), shared.name("k"));
    builder.kernel(CostId(1U), shared.name("k"));
    const Program program = builder.take();
    std::array<SimTime, kNumLaunchClasses> costs{};
    costs[static_cast<std::size_t>(LaunchClass::Kernel)] = us(2);
    const ProgramLayout layout = lay_out(program, costs, 1024);
    HostThread host;
    host.begin_step(us(0));
    host.issue_until(1);
    host.resume(layout, us(1), std::nullopt);
    host.issue_until(2);
    CHECK(host.issue_time(layout, 1) == us(4));
}
