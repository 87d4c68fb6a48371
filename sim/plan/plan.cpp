// SPDX-License-Identifier: Apache-2.0
#include "plan/plan.hpp"

#include "base/assert.hpp"

namespace orrery {

std::vector<std::int64_t> split_layers(std::int64_t layers, std::int64_t stages,
                                       bool embedding_as_layer, bool loss_as_layer) {
    const std::int64_t extras = (embedding_as_layer ? 1 : 0) + (loss_as_layer ? 1 : 0);
    ORRERY_ASSERT(stages >= 1 && layers >= stages - extras, "every virtual stage holds something");
    const std::int64_t total = layers + extras;
    std::vector<std::int64_t> split(static_cast<std::size_t>(stages), total / stages);
    for (std::size_t i = 0; i < static_cast<std::size_t>(total % stages); ++i) {
        ++split[i];
    }
    split.front() -= embedding_as_layer ? 1 : 0;
    split.back() -= loss_as_layer ? 1 : 0;
    return split;
}

std::int64_t num_microbatches(const Plan& plan, std::int64_t global_batch,
                              std::int64_t micro_batch) {
    ORRERY_ASSERT(global_batch % (micro_batch * plan.data) == 0,
                  "checked with the plan: micro_batch · data divides global_batch");
    return global_batch / (micro_batch * plan.data);
}

}  // namespace orrery
