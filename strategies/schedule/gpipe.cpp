// SPDX-License-Identifier: Apache-2.0
#include "base/assert.hpp"
#include "strategies/schedule/schedule.hpp"

namespace orrery {

PipelineOrder gpipe_order(std::int64_t p, std::int64_t m) {
    ORRERY_ASSERT(p >= 1 && m >= 1, "a pipeline has a rank and a micro-batch");
    std::vector<Pass> passes;
    passes.reserve(static_cast<std::size_t>(2 * m));
    for (std::int32_t k = 0; k < m; ++k) {
        passes.push_back({PassKind::Forward, k, 0});
    }
    for (std::int32_t k = 0; k < m; ++k) {
        passes.push_back({PassKind::Backward, k, 0});
    }
    return {p, 1, m, std::vector<std::vector<Pass>>(static_cast<std::size_t>(p), passes)};
}

}  // namespace orrery
