// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "strategies/stage.hpp"

#include <cstdint>
#include <vector>

namespace orrery {

/// A stretch of a chunk's gradient buffer that is reduced, and whose parameters are gathered, as
/// one.
struct Bucket {
    std::int64_t elements = 0;  ///< with padding
    /// Indices into Chunk::parameters; a bucket fills from `last` down to `first`, as backward
    /// does.
    std::size_t first = 0;
    std::size_t last = 0;
};

/// How a chunk's gradients lie in memory: parameters in reverse model order, a bucket closed once
/// it holds `bucket_size` parameters (0: one bucket). With `shards` > 0 (the distributed optimizer
/// over that many ranks) every parameter starts on a 64-element border and every bucket ends on a
/// multiple of lcm(shards, 128). Source: Megatron-LM core/distributed/param_and_grad_buffer.py.
struct GradientBuffer {
    std::vector<Bucket> buckets;

    [[nodiscard]] std::int64_t elements() const;
};

[[nodiscard]] GradientBuffer lay_out_gradients(const Chunk& chunk, std::int64_t bucket_size,
                                               std::int64_t shards);

/// The buffers of all chunks of a stage as the plan wants them: buckets only with
/// overlap_grad_reduce, on pipeline rank 0 and its chunk 0.
[[nodiscard]] std::vector<GradientBuffer> stage_gradients(const Job& job, const Stage& stage);

}  // namespace orrery
