// SPDX-License-Identifier: Apache-2.0
#include "model/flop_count.hpp"
#include "program/check.hpp"
#include "tests/catch.hpp"
#include "tests/unit/strategies/toy_job.hpp"

namespace orrery {
namespace {

struct Degrees {
    std::int64_t tensor, pipeline, virtual_stages, data;
};

std::string name(const Degrees& d) {
    return "tensor " + std::to_string(d.tensor) + " pipeline " + std::to_string(d.pipeline) +
           " virtual " + std::to_string(d.virtual_stages) + " data " + std::to_string(d.data);
}

const std::vector<Degrees> kDegrees{{1, 1, 1, 1}, {4, 1, 1, 2}, {1, 4, 1, 1}, {2, 4, 1, 2},
                                    {2, 4, 2, 2}, {4, 2, 3, 4}, {1, 8, 1, 2}, {1, 8, 2, 1}};

std::vector<Plan> variations(const Degrees& d, std::int64_t layers) {
    std::vector<Plan> plans;
    const Plan base = toy::plan(layers, d.tensor, d.pipeline, d.virtual_stages, d.data);
    for (const bool sequence : {false, true}) {
        for (const Recompute recompute : {Recompute::None, Recompute::Selective, Recompute::Full}) {
            for (const bool distributed : {false, true}) {
                Plan plan = base;
                plan.sequence_parallel = sequence;
                plan.recompute = recompute;
                plan.recompute_layers = 2;
                plan.recompute_method =
                    distributed ? RecomputeMethod::Block : RecomputeMethod::Uniform;
                plan.data_parallel_kind =
                    distributed ? DataParallelKind::DistributedOptimizer : DataParallelKind::Ddp;
                plan.overlap_grad_reduce = sequence;
                plan.overlap_param_gather = sequence;
                plan.bucket_size = 1'000'000;
                plan.overlap_p2p = distributed || d.virtual_stages > 1;
                plan.deallocate_outputs = recompute != Recompute::Full;
                plans.push_back(plan);
            }
        }
    }
    return plans;
}

TEST_CASE("Programs of every kind of plan hold together, and none can get stuck") {
    for (const Degrees& degrees : kDegrees) {
        const std::int64_t layers = 2 * degrees.pipeline * degrees.virtual_stages;
        const Transformer model =
            degrees.tensor == 4 ? toy::gpt(layers, 512, 8) : toy::small_llama(layers);
        const Training training = toy::training(512, 3 * degrees.pipeline * degrees.data, 1);
        for (const Plan& plan : variations(degrees, layers)) {
            CAPTURE(name(degrees), plan.sequence_parallel, static_cast<int>(plan.recompute));
            const BuiltPrograms built = toy::build(model, training, plan);
            CHECK(check_programs(built.programs) == std::vector<std::string>{});
            CHECK(toy::stuck_instructions(built) == 0);
        }
    }
}

TEST_CASE("schedules, with blocking messages and without, never get stuck on 2 to 8 stages") {
    for (std::int64_t p = 2; p <= 8; ++p) {
        for (const bool overlap : {false, true}) {
            for (const std::int64_t m : {std::int64_t{1}, p, 2 * p + 1}) {
                Plan plan = toy::plan(p, 1, p, 1, 1);
                plan.overlap_p2p = overlap;
                const Training training = toy::training(128, m, 1);
                CAPTURE(p, overlap, m);
                CHECK(toy::stuck_instructions(toy::build(toy::small_llama(p), training, plan)) ==
                      0);
                plan.schedule = ScheduleKind::GPipe;
                CHECK(toy::stuck_instructions(toy::build(toy::small_llama(p), training, plan)) ==
                      0);
            }
            for (const std::int64_t group : {p, p + 1}) {
                Plan plan = toy::plan(3 * p, 1, p, 3, 1);
                plan.overlap_p2p = overlap;
                plan.microbatch_group = group;
                CAPTURE(p, overlap, group);
                const BuiltPrograms built =
                    toy::build(toy::small_llama(3 * p), toy::training(128, 3 * group, 1), plan);
                CHECK(check_programs(built.programs) == std::vector<std::string>{});
                CHECK(toy::stuck_instructions(built) == 0);
            }
        }
    }
}

// Reference counts of pipeline messages: 1F1B 2m(p−1), interleaved 2m(pv−1).
TEST_CASE(
    "Programs send as many messages as the schedule says, of s·b·h·2/t bytes with sequence "
    "parallelism") {
    const auto sends = [](const Plan& plan, std::int64_t layers) {
        const BuiltPrograms built =
            toy::build(toy::small_llama(layers), toy::training(256, 8, 1), plan);
        std::int64_t total = 0;
        for (std::int64_t stage = 0; stage < plan.pipeline; ++stage) {
            for (const Communication& comm : toy::communications(
                     built, stage,
                     [](const Instruction& i) { return i.kind == InstructionKind::Send; })) {
                CHECK(comm.bytes == 256 * 512 * 2 / (plan.sequence_parallel ? plan.tensor : 1));
                ++total;
            }
        }
        return total;
    };
    Plan plain = toy::plan(4, 2, 4, 1, 1);
    CHECK(sends(plain, 4) == 48);
    plain.sequence_parallel = true;
    CHECK(sends(plain, 4) == 48);
    CHECK(sends(toy::plan(8, 1, 4, 2, 1), 8) == 112);
}

TEST_CASE("the FLOP of all kernels are Megatron's model FLOP, whatever the plan") {
    const Transformer model = toy::small_llama(8);
    const std::int64_t sequences = 16;
    const Training training = toy::training(512, sequences, 1);
    for (const Degrees& d :
         std::vector<Degrees>{{1, 1, 1, 1}, {2, 2, 1, 2}, {4, 4, 2, 1}, {1, 8, 1, 2}}) {
        CAPTURE(name(d));
        const Plan plan = toy::plan(8, d.tensor, d.pipeline, d.virtual_stages, d.data);
        const double expected =
            megatron_flop(model, 512, sequences, padded_vocab(model, d.tensor)).si();
        CHECK(toy::total_flop(toy::build(model, training, plan), plan) ==
              Approx(expected).epsilon(1e-12));
    }
}

TEST_CASE(
    "full recomputation runs every layer's forward once more: a third more FLOP of the layers") {
    const Transformer model = toy::small_llama(8);
    const Training training = toy::training(512, 8, 1);
    Plan plan = toy::plan(8, 1, 2, 1, 1);
    const double plain = toy::total_flop(toy::build(model, training, plan), plan);
    plan.recompute = Recompute::Full;
    const double full = toy::total_flop(toy::build(model, training, plan), plan);
    // The head's product is not recomputed: 6·s·V·h a sequence.
    const double head = 8.0 * 6.0 * 512.0 * 1024.0 * 512.0;
    CHECK(full - plain == Approx((plain - head) / 3.0).epsilon(1e-12));
}

TEST_CASE(
    "an order from a file with split backwards runs: same FLOP, same messages, memory freed") {
    const Transformer model = toy::small_llama(4);
    const Training training = toy::training(512, 4, 1);
    Plan plan = toy::plan(4, 2, 2, 1, 1);
    plan.sequence_parallel = true;
    const double expected = toy::total_flop(toy::build(model, training, plan), plan);
    plan.schedule = ScheduleKind::File;
    plan.schedule_file = "zb.order";
    plan.overlap_p2p = true;
    // ZB-H1 for p = 2, m = 4, by its order rules.
    plan.schedule_order = {"F0 F1 B0 W0 F2 B1 W1 F3 B2 W2 B3 W3",
                           "F0 B0 F1 B1 W0 F2 B2 W1 F3 B3 W2 W3"};
    for (const Recompute recompute : {Recompute::None, Recompute::Selective}) {
        plan.recompute = recompute;
        const BuiltPrograms built = toy::build(model, training, plan);
        CHECK(check_programs(built.programs) == std::vector<std::string>{});
        CHECK(toy::stuck_instructions(built) == 0);
        if (recompute == Recompute::None) {
            CHECK(toy::total_flop(built, plan) == Approx(expected).epsilon(1e-12));
        }
    }
}

TEST_CASE("a virtual stage without layers hands on what it gets") {
    Plan plan = toy::plan(4, 1, 4, 1, 2);
    plan.stage_layers = {1, 0, 1, 1};
    for (const bool overlap : {false, true}) {
        plan.overlap_p2p = overlap;
        const BuiltPrograms built =
            toy::build(toy::small_llama(3), toy::training(128, 12, 1), plan);
        CHECK(check_programs(built.programs) == std::vector<std::string>{});
        CHECK(toy::stuck_instructions(built) == 0);
    }
}

TEST_CASE("launch costs are the framework's") {
    const BuiltPrograms built =
        toy::build(toy::small_llama(2), toy::training(128, 1, 1), toy::plan(2, 1, 1, 1, 1));
    const auto cost = [&](LaunchClass launch_class) {
        return built.programs.launch_costs[static_cast<std::size_t>(launch_class)].ps();
    };
    CHECK(cost(LaunchClass::Free) == 0);
    CHECK(cost(LaunchClass::Kernel) == 4'000'000);
    CHECK(cost(LaunchClass::Collective) == 8'000'000);
    CHECK(cost(LaunchClass::PointToPoint) == 9'000'000);
}

}  // namespace
}  // namespace orrery
