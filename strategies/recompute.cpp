// SPDX-License-Identifier: Apache-2.0
#include "strategies/recompute.hpp"

#include <algorithm>

namespace orrery {

std::vector<Segment> recompute_segments(const Plan& plan, const Chunk& chunk) {
    std::vector<Segment> segments;
    const bool is_full = plan.recompute == Recompute::Full;
    const bool is_block = plan.recompute_method == RecomputeMethod::Block;
    const auto n = static_cast<std::size_t>(std::max<std::int64_t>(plan.recompute_layers, 1));
    const Keep of_layers =
        plan.recompute == Recompute::Selective ? Keep::WithoutCoreAttention : Keep::All;
    std::size_t layers = 0;
    for (std::size_t b = 0; b < chunk.blocks.size(); ++b) {
        if (chunk.blocks[b].layer < 0) {
            segments.push_back({b, b + 1, Keep::All});
            continue;
        }
        const bool is_recomputed = is_full && (!is_block || layers < n);
        if (is_recomputed && !is_block && layers % n != 0) {
            segments.back().end = b + 1;
        } else {
            segments.push_back({b, b + 1, is_recomputed ? Keep::InputOnly : of_layers});
        }
        ++layers;
    }
    return segments;
}

}  // namespace orrery
