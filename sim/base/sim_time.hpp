// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/units.hpp"

#include <cmath>
#include <compare>
#include <cstdint>

namespace orrery {

/// A point on, or a distance along, the simulated clock: whole picoseconds in int64 (up to 106
/// days). Integer time makes sums exact, so the order of summation can never reach a result.
class SimTime {
  public:
    constexpr SimTime() = default;

    static constexpr SimTime from_ps(std::int64_t picoseconds) { return SimTime(picoseconds); }

    /// Rounds up, so that nothing takes zero time unless it costs zero.
    /// Requires: seconds is finite, not negative and below 9.2e6.
    static SimTime from(Seconds seconds) {
        return SimTime(static_cast<std::int64_t>(std::ceil(seconds.si() * 1e12)));
    }

    [[nodiscard]] constexpr std::int64_t ps() const { return ps_; }

    [[nodiscard]] constexpr Seconds seconds() const {
        return Seconds(static_cast<double>(ps_) * 1e-12);
    }

    constexpr SimTime& operator+=(SimTime other) {
        ps_ += other.ps_;
        return *this;
    }

    constexpr SimTime& operator-=(SimTime other) {
        ps_ -= other.ps_;
        return *this;
    }

    friend constexpr SimTime operator+(SimTime a, SimTime b) { return SimTime(a.ps_ + b.ps_); }

    friend constexpr SimTime operator-(SimTime a, SimTime b) { return SimTime(a.ps_ - b.ps_); }

    friend constexpr auto operator<=>(SimTime, SimTime) = default;

  private:
    constexpr explicit SimTime(std::int64_t ps) : ps_(ps) {}

    std::int64_t ps_ = 0;
};

}  // namespace orrery
