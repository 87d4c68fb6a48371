// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/units.hpp"
#include "cost/profile.hpp"
#include "model/kernel.hpp"

#include <cstdint>
#include <memory>

namespace orrery {

/// Where a duration came from, best first.
enum class TimeSource : std::uint8_t { Measured, Interpolated, Roofline };

struct KernelTime {
    Seconds time;
    TimeSource source = TimeSource::Roofline;
    double sigma = 0.0;  ///< standard deviation of ln(true / predicted)
};

/// Kernel durations of one GPU under one framework: the measured table where the shape is in it, an
/// interpolation in efficiency near it, the closed form with the profile's ceilings elsewhere.
/// Near: every dimension within the table's range and a measured neighbour within a factor of 2 in
/// each.
class KernelTimes {
  public:
    KernelTimes(const GpuProfile& gpu, const FrameworkProfile& framework);
    ~KernelTimes();
    KernelTimes(KernelTimes&&) noexcept;
    KernelTimes& operator=(KernelTimes&&) noexcept;
    KernelTimes(const KernelTimes&) = delete;
    KernelTimes& operator=(const KernelTimes&) = delete;

    /// Time of `kernel` alone on the GPU, without the gap before it.
    [[nodiscard]] KernelTime time(const KernelSpec& kernel) const;

  private:
    struct Tables;
    std::unique_ptr<Tables> tables_;
};

[[nodiscard]] const char* to_string(TimeSource source);  ///< "measured", "interpolated", "roofline"

}  // namespace orrery
