// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/diagnostic.hpp"
#include "calibrate/fit/nelder_mead.hpp"
#include "cost/csv_table.hpp"
#include "cost/profile.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace orrery {

/// One point for each shape of a table with a `kernel` column: from the first kernel of `preferred`
/// (an exact name, or a prefix ended by '*') that measured it; kernels not named are left out, and
/// so are rows whose pass is fwdbwd. Rows in fp16 count as bf16. Sorted by shape. Errors: missing
/// columns, bad rows.
[[nodiscard]] Expected<std::vector<AttentionPoint>> choose_attention(
    const CsvTable& table, const std::vector<std::string>& preferred);

/// What an attention fit is made for.
struct AttentionTarget {
    Dtype dtype = Dtype::Bf16;
    FlopPerSecond peak;
    std::int64_t sms = 0;
};

/// e_inf, s_half and t0 with the least mean |ln| over the forward points of the target's dtype with
/// head dimension 128 and a causal mask (what language models train with) that fill every SM with a
/// block of 128 queries, then backward_efficiency as the median over all backward points (0.85
/// where there are none). sigma is that of the forward points. Requires: such forward points exist.
[[nodiscard]] AttentionFit fit_attention(const std::vector<AttentionPoint>& points,
                                         const AttentionTarget& target);

/// backward_efficiency from rows of one kernel that hold only forward and backward together, in
/// fp16 or bf16 with head dimension 128 and a causal mask: median of 5/2 · f / (measured − f), f
/// the fitted forward. 0.85 where there are none. Errors: missing columns.
[[nodiscard]] Expected<double> backward_from_sums(const CsvTable& table, const std::string& kernel,
                                                  const AttentionFit& fit,
                                                  const AttentionTarget& target);

/// Quality over every point of the target's dtype and this pass.
[[nodiscard]] FitQuality attention_quality(const AttentionFit& fit,
                                           const std::vector<AttentionPoint>& points,
                                           const AttentionTarget& target, KernelPass pass);

}  // namespace orrery
