// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/diagnostic.hpp"
#include "base/units.hpp"
#include "cost/csv_table.hpp"
#include "cost/profile.hpp"

#include <map>
#include <string>
#include <vector>

namespace orrery {

/// One measured memory-bound kernel, in the profile's words.
struct MemoryBoundPoint {
    std::string op;    ///< "rms_norm", "layer_norm", "rope", "swiglu", "cross_entropy", …
    std::string pass;  ///< "forward" or "backward"
    std::string impl;  ///< "fused", "compiled" or "eager"
    Bytes bytes;       ///< least that must cross HBM
    Seconds time;
};

/// Rows of op,pass,rows,width,dtype,time_us,gbps_min_traffic,impl. Bytes come from gbps_min_traffic
/// where it is given, else from the op: swiglu reads 2 and writes 1 tensor (backward 3 and 2), a
/// norm reads 1 and writes 1 (backward 2 and 1), a norm fused with the residual add reads 2 and
/// writes 2 (backward 3 and 1), rope reads and writes its tensor. cudnn, liger, megatron and
/// Transformer Engine kernels are fused, torch_compile is compiled, torch and pytorch are eager,
/// and so is huggingface's layer_norm (its other ops are chains of kernels). Rows with other words
/// (streams, quantisers, fwdbwd) are left out, and cross-entropy, whose implementations pass over
/// the logits an unstated number of times. Errors: missing columns.
[[nodiscard]] Expected<std::vector<MemoryBoundPoint>> read_memory_bound(const CsvTable& table);

/// Rate of BabelStream's copy; where the table has none, the median of its quantisers (bf16 read,
/// fp8 written) of at least 100 microseconds; else 0.
[[nodiscard]] Expected<BytesPerSecond> stream_copy_rate(const CsvTable& table);

/// Fits by "op/pass/impl" of every group with at least 3 points: share is the median of
/// bytes/((time − t0) · HBM) over the points above half the L2 (over the largest three where
/// fewer are), t0 fixed at `t0`. A group with sigma above 0.25 does not follow the form and is left
/// out.
[[nodiscard]] std::map<std::string, MemoryBoundFit> fit_memory_bound(
    const std::vector<MemoryBoundPoint>& points, BytesPerSecond hbm, Bytes l2, Seconds t0);

/// How much faster than its large-tensor fit a forward runs while its bytes stay under half
/// the L2: median over those points, from 1 to 1.5; 1 where there are none.
[[nodiscard]] double fit_cache_boost(const std::vector<MemoryBoundPoint>& points,
                                     const std::map<std::string, MemoryBoundFit>& fits,
                                     BytesPerSecond hbm, Bytes l2);

}  // namespace orrery
