// SPDX-License-Identifier: Apache-2.0
#include "base/sim_time.hpp"

#include "base/ids.hpp"
#include "tests/catch.hpp"

#include <type_traits>

namespace orrery {

TEST_CASE("simulated time rounds up, so that only nothing takes no time") {
    CHECK(SimTime::from(Seconds(0.0)).ps() == 0);
    CHECK(SimTime::from(Seconds(1e-15)).ps() == 1);
    CHECK(SimTime::from(Seconds(2.5e-12)).ps() == 3);
    CHECK(SimTime::from(Seconds(1.0)).ps() == 1'000'000'000'000);
}

TEST_CASE("quotients of quantities have the dimension of the quotient") {
    const auto time = Bytes(100.0) / BytesPerSecond(50.0);
    static_assert(std::is_same_v<decltype(time), const Seconds>);
    CHECK(time.si() == 2.0);
    static_assert(std::is_same_v<decltype(Bytes(4.0) / Bytes(2.0)), double>);
    CHECK(Flop(6.0) / Seconds(2.0) == FlopPerSecond(3.0));
}

TEST_CASE("ids of different kinds do not convert into each other") {
    static_assert(!std::is_convertible_v<RankId, ClassId>);
    static_assert(!std::is_convertible_v<int, RankId>);
    IdVector<RankId, int> values(3, 7);
    values[RankId(std::uint32_t{1})] = 9;
    CHECK(values[RankId(std::uint32_t{1})] == 9);
    CHECK(values.push_back(5) == RankId(std::uint32_t{3}));
}

}  // namespace orrery
