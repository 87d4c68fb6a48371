// SPDX-License-Identifier: Apache-2.0
// Source: Megatron-LM core/pipeline_parallel/schedules.py get_schedule_table,
// get_pp_rank_microbatches.
#include "base/assert.hpp"
#include "strategies/schedule/schedule.hpp"

#include <algorithm>

namespace orrery {

namespace {

/// (micro-batch, chunk) in the order of the forwards: for each group, each chunk, each micro-batch.
std::vector<Pass> forward_table(std::int64_t v, std::int64_t m, std::int64_t group) {
    std::vector<Pass> table;
    table.reserve(static_cast<std::size_t>(m * v));
    for (std::int64_t first = 0; first < m; first += group) {
        const std::int64_t last = std::min(first + group, m);
        for (std::int32_t chunk = 0; chunk < v; ++chunk) {
            for (auto k = static_cast<std::int32_t>(first); k < last; ++k) {
                table.push_back({PassKind::Forward, k, chunk});
            }
        }
    }
    return table;
}

}  // namespace

PipelineOrder interleaved_order(std::int64_t p, std::int64_t v, std::int64_t m, std::int64_t group,
                                std::int64_t extra_warmup) {
    ORRERY_ASSERT(p > 1 && v >= 1 && group >= p && group <= m && extra_warmup >= 0,
                  "checked with the plan: p > 1, p <= group <= m");
    ORRERY_ASSERT(m % group == 0 || m % group >= p, "checked with the plan: the last group fills");
    const std::vector<Pass> forwards = forward_table(v, m, group);
    const std::int64_t total = m * v;
    const auto backward = [&](std::int64_t k) {
        Pass pass = forwards[static_cast<std::size_t>(k)];
        pass.kind = PassKind::Backward;
        pass.chunk = static_cast<std::int32_t>(v) - 1 - pass.chunk;
        return pass;
    };

    PipelineOrder order{p, v, m, {}};
    for (std::int64_t r = 0; r < p; ++r) {
        const std::int64_t warmup =
            std::min(2 * (p - 1 - r) + (v - 1) * group + extra_warmup, total);
        std::vector<Pass> passes(forwards.begin(), forwards.begin() + warmup);
        passes.reserve(static_cast<std::size_t>(2 * total));
        for (std::int64_t k = warmup; k < total; ++k) {
            passes.push_back(forwards[static_cast<std::size_t>(k)]);
            passes.push_back(backward(k - warmup));
        }
        for (std::int64_t k = total - warmup; k < total; ++k) {
            passes.push_back(backward(k));
        }
        order.ranks.push_back(std::move(passes));
    }
    return order;
}

}  // namespace orrery
