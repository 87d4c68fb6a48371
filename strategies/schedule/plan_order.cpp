// SPDX-License-Identifier: Apache-2.0
#include "strategies/schedule/plan_order.hpp"

#include "strategies/schedule/order_timing.hpp"

namespace orrery {

namespace {

void require_equal(Diagnostics& wrong, const Plan& plan, const char* field, std::int64_t in_file,
                   std::int64_t in_plan) {
    if (in_file != in_plan) {
        wrong.push_back(
            {plan.schedule_file, 0, 0, field,
             "the order has " + std::to_string(in_file) + ", the plan " + std::to_string(in_plan),
             "write an order for this plan, or change the plan"});
    }
}

Expected<PipelineOrder> order_from_file(const Plan& plan, std::int64_t microbatches) {
    ORRERY_TRY(order, parse_order(plan.schedule_order, plan.schedule_file));
    Diagnostics wrong;
    require_equal(wrong, plan, "plan.pipeline", order.stages, plan.pipeline);
    require_equal(wrong, plan, "plan.virtual_stages", order.virtual_stages, plan.virtual_stages);
    require_equal(wrong, plan, "training.global_batch (micro-batches of a rank)",
                  order.microbatches, microbatches);
    if (!wrong.empty()) {
        return fail(std::move(wrong));
    }
    if (auto timing = time_order(order, {}); !timing) {
        for (Diagnostic& diagnostic : timing.error()) {
            diagnostic.file = plan.schedule_file;
        }
        return fail(std::move(timing.error()));
    }
    return order;
}

}  // namespace

Expected<PipelineOrder> plan_order(const Plan& plan, std::int64_t microbatches) {
    switch (plan.schedule) {
        case ScheduleKind::GPipe:
            return gpipe_order(plan.pipeline, microbatches);
        case ScheduleKind::OneFOneB:
            return one_f_one_b_order(plan.pipeline, microbatches);
        case ScheduleKind::Interleaved:
            return interleaved_order(plan.pipeline, plan.virtual_stages, microbatches,
                                     plan.microbatch_group, 0);
        case ScheduleKind::File:
            break;
    }
    return order_from_file(plan, microbatches);
}

}  // namespace orrery
