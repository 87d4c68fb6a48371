// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cost/kernel_time.hpp"
#include "cost/near_points.hpp"
#include "cost/profile.hpp"

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace orrery {

/// Products above this many FLOP run long enough for the GPU's power limit to lower its clock.
inline constexpr double kSustainedFlop = 20e9;

/// Residual of a repeated measurement of one shape: runs of one shape spread 10% in the median.
/// Source: spread of the tables of NVIDIA aiconfigurator.
inline constexpr double kMeasuredSigma = 0.05;

/// Peak and HBM rate that a closed form divides by.
struct Ceilings {
    FlopPerSecond peak;
    BytesPerSecond hbm;
};

/// t = t0 + (a^q + b^q)^(1/q), a = FLOP/(flop_efficiency · peak), b = bytes/(byte_efficiency ·
/// HBM). A batch counts its whole FLOP and bytes once against the ceilings, with each matrix padded
/// to whole 64×64 tiles: small matrices of a batch fill the SMs together, but each pays for its own
/// edges.
[[nodiscard]] Seconds gemm_closed_form(const GemmFit& fit, const Ceilings& ceilings,
                                       const GemmKernel& kernel);

/// Time in whole waves over time if the SMs were always full, from 1 to 4: the better of tiles of
/// 128×256, 256×128 and 128×128 (the last 10% slower for its share of loads). Persistent and split
/// kernels of Hopper and later do not show it; A100's do. Requires: sms >= 1.   Source:
/// leave-a-dimension-out errors on the tables of NVIDIA aiconfigurator fall from 5.2 to 3.7% on
/// A100 and rise on H100 and B200.
[[nodiscard]] double wave_factor(const GemmKernel& kernel, std::int64_t sms);

/// Peak of `dtype`: its own, else its family's (fp16 as bf16, every fp8 kind as fp8); nothing where
/// the profile has neither.
[[nodiscard]] std::optional<FlopPerSecond> peak_of(const GpuProfile& gpu, Dtype dtype);

/// Times of products on one GPU. Its table is sorted once; a lookup is O(log n), an interpolation
/// visits the points within an octave.
class GemmTimes {
  public:
    explicit GemmTimes(const GpuProfile& gpu);

    /// Exact row: Measured. Neighbours on all sides within an octave: Interpolated. Else Roofline.
    /// A layout other than TN, or accumulation, multiplies by the profile's factor and is at most
    /// Interpolated; above kSustainedFlop the time is multiplied by the profile's sustained factor.
    /// fp16 uses bf16's rows and fit.
    [[nodiscard]] KernelTime time(const GemmKernel& kernel) const;

    /// ln(measured / estimated) of every row whose shape can be estimated without it
    /// (leave-one-out). Requires nothing of the order of rows. `least_dimension` leaves smaller
    /// shapes out.
    [[nodiscard]] std::vector<double> leave_one_out(Dtype dtype,
                                                    std::int64_t least_dimension) const;

  private:
    struct Family {
        GemmFit fit;
        Ceilings ceilings;
        std::int64_t sms = 0;  ///< 0: waves do not show
        NearPoints
            aligned;  ///< shapes of whole multiples of 64: their neighbours pay no ragged tiles
        NearPoints all;
    };

    struct Row {
        GemmKernel shape;
        Seconds time;
        std::size_t aligned_index = 0;
        bool is_aligned = false;
    };

    /// What a row is compared with: the closed form, by waves where they show.
    [[nodiscard]] static Seconds expected(const Family& family, const GemmKernel& kernel);
    [[nodiscard]] KernelTime burst(const GemmKernel& kernel) const;

    std::map<Dtype, Family> families_;
    std::vector<Row> rows_;
    std::array<double, 3> layout_factor_;
    double accumulate_factor_;
    double sustained_;
};

}  // namespace orrery
