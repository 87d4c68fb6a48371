// SPDX-License-Identifier: Apache-2.0
#include "strategies/gradient_buckets.hpp"

#include <numeric>

namespace orrery {

namespace {

std::int64_t round_up(std::int64_t value, std::int64_t multiple) {
    return (value + multiple - 1) / multiple * multiple;
}

}  // namespace

std::int64_t GradientBuffer::elements() const {
    std::int64_t total = 0;
    for (const Bucket& bucket : buckets) {
        total += bucket.elements;
    }
    return total;
}

GradientBuffer lay_out_gradients(const Chunk& chunk, std::int64_t bucket_size,
                                 std::int64_t shards) {
    GradientBuffer buffer;
    Bucket bucket;
    std::int64_t held = 0;  // without padding: what Megatron compares with the bucket size
    bool is_open = false;
    const auto close = [&] {
        if (shards > 0) {
            bucket.elements = round_up(bucket.elements, std::lcm(shards, std::int64_t{128}));
        }
        buffer.buckets.push_back(bucket);
        is_open = false;
    };
    for (std::size_t i = chunk.parameters.size(); i-- > 0;) {
        if (!is_open) {
            bucket = {0, i, i};
            held = 0;
            is_open = true;
        }
        if (shards > 0) {
            bucket.elements = round_up(bucket.elements, 64);
        }
        bucket.elements += chunk.parameters[i].elements;
        held += chunk.parameters[i].elements;
        bucket.first = i;
        if (bucket_size > 0 && held >= bucket_size) {
            close();
        }
    }
    if (is_open) {
        close();
    }
    return buffer;
}

std::vector<GradientBuffer> stage_gradients(const Job& job, const Stage& stage) {
    const bool is_distributed =
        job.plan->data_parallel_kind == DataParallelKind::DistributedOptimizer;
    std::vector<GradientBuffer> buffers;
    for (std::size_t c = 0; c < stage.chunks.size(); ++c) {
        const bool has_buckets = job.plan->overlap_grad_reduce && stage.rank == 0 && c == 0;
        buffers.push_back(lay_out_gradients(stage.chunks[c],
                                            has_buckets ? job.plan->bucket_size : 0,
                                            is_distributed ? job.gradient_ranks() : 0));
    }
    return buffers;
}

}  // namespace orrery
