// SPDX-License-Identifier: Apache-2.0
// A simulated step against the data-flow timing of its schedule: one layer a chunk, F, B and W one
// kernel each, everything else free. So bubbles come out of the Programs and the engine alone.
#include "engine/engine.hpp"
#include "strategies/schedule/order_timing.hpp"
#include "strategies/schedule/plan_order.hpp"
#include "tests/catch.hpp"
#include "tests/unit/strategies/toy_job.hpp"

#include <algorithm>
#include <queue>

namespace orrery {
namespace {

constexpr std::int64_t kUnit = 1'000'000;  // picoseconds of a cost of 1

/// Messages take `message`, everything else no time.
class MessageNetwork final : public Network {
  public:
    explicit MessageNetwork(SimTime message) : message_(message) {}

    Ticket start(SimTime now, const NetworkRequest& request) override {
        in_flight_.push_back({now + time_alone(request), next_});
        std::ranges::stable_sort(in_flight_, {}, &InFlight::end);
        return next_++;
    }

    [[nodiscard]] std::optional<SimTime> next_completion() const override {
        return in_flight_.empty() ? std::nullopt : std::optional(in_flight_.front().end);
    }

    void complete(SimTime now, std::vector<Ticket>& done) override {
        while (!in_flight_.empty() && in_flight_.front().end <= now) {
            done.push_back(in_flight_.front().ticket);
            in_flight_.erase(in_flight_.begin());
        }
    }

    [[nodiscard]] std::int64_t sms(const NetworkRequest&) const override { return 0; }

    [[nodiscard]] SimTime time_alone(const NetworkRequest& request) override {
        return request.op == NetworkOp::SendRecv ? message_ : SimTime();
    }

  private:
    struct InFlight {
        SimTime end;
        Ticket ticket;
    };

    SimTime message_;
    Ticket next_ = 0;
    std::vector<InFlight> in_flight_;
};

SimTime units(double value) {
    return SimTime::from_ps(static_cast<std::int64_t>(value * static_cast<double>(kUnit)));
}

/// The layer's fc2 stands for the pass; all other kernels and the host are free.
BuiltPrograms with_unit_costs(BuiltPrograms built, const Transformer& model,
                              const PassCosts& costs) {
    for (CostRow& row : built.costs) {
        row.duration = SimTime();
        const auto* gemm = std::get_if<GemmKernel>(&row.kernel);
        if (gemm == nullptr) {
            continue;
        }
        const std::int64_t f = model.ffn_hidden;
        if (gemm->layout == GemmLayout::TN && gemm->k == f) {
            row.duration = units(costs.forward);
        } else if (gemm->layout == GemmLayout::NN && gemm->n == f) {
            row.duration = units(costs.input_gradient);
        } else if (gemm->layout == GemmLayout::NT && gemm->n == f) {
            row.duration = units(costs.weight_gradient);
        }
    }
    built.programs.launch_costs = {};
    return built;
}

Cluster cluster_of(std::int64_t gpus) {
    Cluster cluster;
    cluster.preset = "toy";
    cluster.gpus = gpus;
    return cluster;
}

RunRecord simulated(const Plan& plan, std::int64_t microbatches, const PassCosts& costs) {
    const auto layers = static_cast<std::int64_t>(plan.stage_layers.size());
    const Transformer model = toy::small_llama(layers);
    const BuiltPrograms built =
        with_unit_costs(toy::build(model, toy::training(128, microbatches, 1), plan), model, costs);
    MessageNetwork network(units(costs.p2p));
    return run_programs(built.programs, built.costs,
                        fold_ranks(list_rank_groups(RankMesh(plan)), built.programs,
                                   cluster_of(plan.pipeline), false),
                        network, Contention(100, 1.0, 1.0), {});
}

OrderTiming expected(const Plan& plan, std::int64_t microbatches, const PassCosts& costs) {
    const auto order = plan_order(plan, microbatches);
    REQUIRE(order);
    const auto timing = time_order(*order, costs);
    REQUIRE(timing);
    return *timing;
}

void check_same(const Plan& plan, std::int64_t microbatches, const PassCosts& costs) {
    CAPTURE(plan.pipeline, plan.virtual_stages, microbatches, costs.p2p, plan.overlap_p2p);
    const RunRecord record = simulated(plan, microbatches, costs);
    const OrderTiming timing = expected(plan, microbatches, costs);
    REQUIRE_FALSE(record.deadlock);
    CHECK(record.step_time == units(timing.makespan));
    for (const ClassRecord& of_class : record.classes) {
        const SimTime idle = of_class.split.total() - of_class.split.compute;
        CHECK(idle == units(timing.idle.front()));  // equal stages idle equally
    }
}

Plan plan_of(ScheduleKind schedule, std::int64_t p, std::int64_t v, std::int64_t group) {
    Plan plan = toy::plan(p * v, 1, p, v, 1);
    plan.schedule = schedule;
    plan.microbatch_group = group;
    plan.overlap_p2p = true;
    return plan;
}

TEST_CASE("with free messages a simulated step has its schedule's makespan and idle time") {
    for (const PassCosts& costs :
         std::vector<PassCosts>{{1, 1, 1, 0}, {10, 11, 9, 0}, {10, 14, 6, 0}}) {
        for (const bool overlap : {false, true}) {
            for (const std::int64_t p : {2, 4, 8}) {
                for (const ScheduleKind kind : {ScheduleKind::GPipe, ScheduleKind::OneFOneB}) {
                    Plan plan = plan_of(kind, p, 1, p);
                    plan.overlap_p2p = overlap;
                    check_same(plan, 2, costs);
                    check_same(plan, 3 * p, costs);
                }
            }
        }
        check_same(plan_of(ScheduleKind::Interleaved, 4, 2, 4), 8, costs);
        check_same(plan_of(ScheduleKind::Interleaved, 4, 2, 6), 10, costs);
        check_same(plan_of(ScheduleKind::Interleaved, 8, 3, 8), 16, costs);
    }
}

// Receives are posted a pass ahead, so a message shorter than a pass costs what data flow says.
TEST_CASE("with messages of a quarter pass the overlapped exchange takes what data flow says") {
    const PassCosts costs{1, 1, 1, 0.25};
    check_same(plan_of(ScheduleKind::OneFOneB, 4, 1, 4), 8, costs);     // 37
    check_same(plan_of(ScheduleKind::GPipe, 4, 1, 4), 8, costs);        // 34.5
    check_same(plan_of(ScheduleKind::Interleaved, 4, 2, 4), 8, costs);  // 60.5
}

TEST_CASE("a blocking exchange is never faster than data flow") {
    const PassCosts costs{1, 1, 1, 0.25};
    Plan plan = plan_of(ScheduleKind::OneFOneB, 4, 1, 4);
    plan.overlap_p2p = false;
    const RunRecord record = simulated(plan, 8, costs);
    REQUIRE_FALSE(record.deadlock);
    CHECK(record.step_time >= units(37.0));
}

}  // namespace
}  // namespace orrery
