// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "strategies/stage.hpp"

#include <cstdint>
#include <vector>

namespace orrery {

/// What a forward leaves for the backward.
enum class Keep : std::uint8_t {
    All,
    WithoutCoreAttention,  ///< selective: scores, masks, log-sum-exp are made again
    InputOnly              ///< full: the whole forward, its communication too, is run again
};

/// Consecutive blocks that are kept, or recomputed, as one.
struct Segment {
    std::size_t begin = 0;
    std::size_t end = 0;
    Keep keep = Keep::All;
};

/// Covers a chunk's blocks in order. Embedding and head are always kept whole. Full, uniform n:
/// every n layers of the chunk keep their input; full, block n: each of the chunk's first n layers
/// keeps its own input and the others keep everything. Source: Megatron-LM --recompute-granularity,
/// --recompute-method.
[[nodiscard]] std::vector<Segment> recompute_segments(const Plan& plan, const Chunk& chunk);

}  // namespace orrery
