// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/diagnostic.hpp"
#include "calibrate/fit/nelder_mead.hpp"
#include "cost/csv_table.hpp"
#include "cost/gemm_time.hpp"
#include "cost/profile.hpp"

#include <cstdint>
#include <vector>

namespace orrery {

/// The fit with the least mean |ln(measured / fitted)| over the points of `dtype` whose dimensions
/// are all multiples of 64 (ragged shapes pay for whole tiles, which the form does not know). Its
/// sigma is that of these points. Requires: such points exist.
[[nodiscard]] GemmFit fit_gemm(const std::vector<GemmPoint>& points, Dtype dtype,
                               const Ceilings& ceilings);

/// Quality of `fit` over the aligned points of `dtype` with every dimension at least
/// `least_dimension`.
[[nodiscard]] FitQuality gemm_quality(const GemmFit& fit, const std::vector<GemmPoint>& points,
                                      Dtype dtype, const Ceilings& ceilings,
                                      std::int64_t least_dimension);

/// What a layout costs, from the same product in three layouts.
struct LayoutFactors {
    double input_gradient = 1.0;   ///< NN against TN
    double weight_gradient = 1.0;  ///< NT against TN, without accumulation
    double accumulate = 1.0;       ///< fp32 D read and written against a bf16 D
    double sigma = 0.0;            ///< of the logs of NN and NT against TN
    bool has_accumulate = false;   ///< the table holds both kinds of D
};

/// From rows of m,n,k,layout,accumulate,out_dtype,time_us (a forward product m×n×k, its input
/// gradient m×k×n and weight gradient n×k×m): geometric means of the ratios of FLOP/s. Products of
/// equal FLOP are compared; a weight gradient with an fp32 D is NT · accumulate, so where a table
/// holds no bf16 D, `accumulate` is taken as `known_accumulate`. Errors: missing columns, no
/// comparable rows.
[[nodiscard]] Expected<LayoutFactors> fit_layouts(const CsvTable& table, double known_accumulate);

/// Median of time sustained / burst over the shapes of at least kSustainedFlop that both tables
/// hold. Nothing in common: 1.
[[nodiscard]] double sustained_ratio(const std::vector<GemmPoint>& burst,
                                     const std::vector<GemmPoint>& sustained, Dtype dtype);

}  // namespace orrery
