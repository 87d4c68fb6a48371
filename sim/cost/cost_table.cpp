// SPDX-License-Identifier: Apache-2.0
#include "cost/cost_table.hpp"

#include <variant>

namespace orrery {

CostId CostTableBuilder::add(const KernelSpec& kernel) {
    const auto [place, is_new] = ids_.try_emplace(kernel);
    if (is_new) {
        const KernelTime time = times_->time(kernel);
        place->second = table_.push_back(
            {.kernel = kernel,
             .duration = SimTime::from(gap_ + time.time),
             .source = time.source,
             .sigma = time.sigma,
             .flop = kernel_flop(kernel),
             .is_memory_bound = std::holds_alternative<MemoryBoundKernel>(kernel)});
    }
    return place->second;
}

}  // namespace orrery
