// SPDX-License-Identifier: Apache-2.0
#include "base/assert.hpp"
#include "strategies/schedule/schedule.hpp"

#include <algorithm>

namespace orrery {

PipelineOrder one_f_one_b_order(std::int64_t p, std::int64_t m) {
    ORRERY_ASSERT(p >= 1 && m >= 1, "a pipeline has a rank and a micro-batch");
    PipelineOrder order{p, 1, m, {}};
    for (std::int64_t r = 0; r < p; ++r) {
        const auto warmup = static_cast<std::int32_t>(std::min(p - 1 - r, m));
        std::vector<Pass> passes;
        passes.reserve(static_cast<std::size_t>(2 * m));
        for (std::int32_t k = 0; k < warmup; ++k) {
            passes.push_back({PassKind::Forward, k, 0});
        }
        for (std::int32_t k = warmup; k < m; ++k) {
            passes.push_back({PassKind::Forward, k, 0});
            passes.push_back({PassKind::Backward, k - warmup, 0});
        }
        for (auto k = static_cast<std::int32_t>(m - warmup); k < m; ++k) {
            passes.push_back({PassKind::Backward, k, 0});
        }
        order.ranks.push_back(std::move(passes));
    }
    return order;
}

}  // namespace orrery
