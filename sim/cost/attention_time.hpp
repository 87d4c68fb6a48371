// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cost/gemm_time.hpp"
#include "cost/kernel_time.hpp"
#include "cost/near_points.hpp"
#include "cost/profile.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

namespace orrery {

/// Forward: t = t0 + FLOP / (efficiency · peak), efficiency = e_inf · s/(s + s_half) · occupancy; s
/// is the positions that a query sees at most (twice the sequence without a causal mask, whose
/// half-filled blocks are what s_half stands for); occupancy = blocks over whole waves of SMs,
/// blocks = b·heads·⌈s/128⌉. Head dimensions d = (d_qk + d_v)/2 away from 128 change
/// the efficiency by (d/128)^0.5 below and (min(d, 256)/128)^0.18 above (medians over the tables of
/// NVIDIA aiconfigurator). Backward: 2× the FLOP, 5/4 of it executed, at backward_efficiency of the
/// forward's efficiency.
[[nodiscard]] Seconds attention_closed_form(const AttentionFit& fit, FlopPerSecond peak,
                                            std::int64_t sms, const AttentionKernel& kernel);

/// Times of fused attention on one GPU.
class AttentionTimes {
  public:
    explicit AttentionTimes(const GpuProfile& gpu);

    /// Exact row: Measured. Neighbours in batch·heads, sequence and grouping, of the same head
    /// dimensions, mask, format and pass: Interpolated. A backward that nobody measured follows the
    /// forward's measured or interpolated time by the closed form's ratio and counts as Roofline;
    /// so does everything else.
    [[nodiscard]] KernelTime time(const AttentionKernel& kernel) const;

    /// ln(measured / estimated) of every row that can be estimated without it.
    [[nodiscard]] std::vector<double> leave_one_out(KernelPass pass) const;

  private:
    using Key = std::tuple<std::int64_t, std::int64_t, bool, Dtype, KernelPass>;

    struct Family {
        NearPoints points;
        double least_grouping = 0.0;
        double most_grouping = 0.0;
    };

    [[nodiscard]] static Key key_of(const AttentionKernel& kernel);
    [[nodiscard]] std::optional<KernelTime> from_table(const AttentionKernel& kernel) const;
    [[nodiscard]] Seconds closed_form(const AttentionKernel& kernel) const;
    [[nodiscard]] const AttentionFit& fit_of(Dtype dtype) const;

    std::map<Dtype, AttentionFit> fits_;
    std::map<Dtype, FlopPerSecond> peaks_;
    std::int64_t sms_;
    std::vector<AttentionPoint> rows_;
    std::map<Key, Family> families_;
};

}  // namespace orrery
