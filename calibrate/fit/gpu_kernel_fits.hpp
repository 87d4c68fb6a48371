// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/diagnostic.hpp"
#include "calibrate/fit/calibration_folder.hpp"
#include "calibrate/fit/fit_proto.hpp"
#include "calibrate/fit/gemm_fit.hpp"
#include "calibrate/fit/known_gpus.hpp"
#include "cost/profile.hpp"

#include <map>
#include <string>
#include <vector>

namespace orrery {

/// A value with where it came from.
template <typename T>
struct Sourced {
    T value{};
    Origin origin;
};

/// The GPU whose products were measured for `gpu`: itself, or its sibling.
[[nodiscard]] const KnownGpu& gemm_donor(const CalibrationFolder& folder, const KnownGpu& gpu);

/// Fits of products by number format from the donor's table: each measured format; plain fp8 from
/// bf16 by the best shapes of both; mxfp8 as fp8; NVFP4 at 0.8 of bf16's efficiency. Errors: a
/// broken table.
[[nodiscard]] Expected<std::map<Dtype, Sourced<GemmFit>>> gemm_fits(const CalibrationFolder& folder,
                                                                    const KnownGpu& gpu);

/// Layout and accumulation factors of the GPU's family. Errors: a broken table.
[[nodiscard]] Expected<Sourced<LayoutFactors>> layout_factors(const CalibrationFolder& folder,
                                                              const KnownGpu& gpu);

/// Time of a large product in steady work over a burst. Errors: a broken table.
[[nodiscard]] Expected<Sourced<double>> sustained_factor(const CalibrationFolder& folder,
                                                         const KnownGpu& gpu);

/// Memory-bound fits by "op/pass/impl" with the defaults "*/…". Errors: a broken table.
[[nodiscard]] Expected<std::map<std::string, Sourced<MemoryBoundFit>>> memory_bound_fits(
    const CalibrationFolder& folder, const KnownGpu& gpu);

/// Attention points and fits of one GPU or its sibling.
struct AttentionParts {
    std::vector<AttentionPoint> points;  ///< measured on this GPU; empty where only its sibling was
    std::map<Dtype, Sourced<AttentionFit>> fits;
};

[[nodiscard]] Expected<AttentionParts> attention_parts(const CalibrationFolder& folder,
                                                       const KnownGpu& gpu);

}  // namespace orrery
