// SPDX-License-Identifier: Apache-2.0
// Symbols: p ranks of the pipeline, m micro-batches, v chunks (virtual stages) a rank, r rank;
// F, B, W forward, input gradient, weight gradient of one chunk, BW = B and W in one.
#pragma once

#include "base/diagnostic.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace orrery {

enum class PassKind : std::uint8_t { Forward, InputGradient, WeightGradient, Backward };

/// One entry of a stage's order: F3.1 = forward of micro-batch 3, chunk 1.
struct Pass {
    PassKind kind = PassKind::Forward;
    std::int32_t microbatch = 0;
    std::int32_t chunk = 0;

    friend bool operator==(const Pass&, const Pass&) = default;
};

/// What every rank of a pipeline runs, in order. Chunk c of rank r is virtual stage c·p + r.
struct PipelineOrder {
    std::int64_t stages = 1;
    std::int64_t virtual_stages = 1;
    std::int64_t microbatches = 1;
    std::vector<std::vector<Pass>> ranks;
};

/// All forwards, then all backwards, ascending. Source: arXiv 1811.06965.
[[nodiscard]] PipelineOrder gpipe_order(std::int64_t p, std::int64_t m);

/// min(p−1−r, m) warm-up forwards, then (F, BW) pairs, then the remaining backwards.
/// Source: arXiv 2006.09503; Megatron-LM schedules.py.
[[nodiscard]] PipelineOrder one_f_one_b_order(std::int64_t p, std::int64_t m);

/// Megatron's interleaved 1F1B with groups of `group` micro-batches and `extra_warmup` more
/// forwards. Requires: p > 1, p <= group <= m, and m mod group = 0 or >= p.
[[nodiscard]] PipelineOrder interleaved_order(std::int64_t p, std::int64_t v, std::int64_t m,
                                              std::int64_t group, std::int64_t extra_warmup);

/// "F0.1", "BW3": the notation of files and of `--json`; chunks are written when virtual_stages
/// > 1.
[[nodiscard]] std::string to_string(const Pass& pass, bool with_chunk);

/// One line a rank. Errors: a word that is not a pass, an order in which a pass is missing, comes
/// twice, or a backward comes before its forward; the line and column of each.
[[nodiscard]] Expected<PipelineOrder> parse_order(const std::vector<std::string>& lines,
                                                  const std::string& file);

}  // namespace orrery
