// SPDX-License-Identifier: Apache-2.0
// What must hold for every valid plan, tried on 200 random ones with a fixed seed.
#include "engine/engine.hpp"
#include "model/flop_count.hpp"
#include "network/analytic_network.hpp"
#include "program/check.hpp"
#include "strategies/build_programs.hpp"
#include "tests/catch.hpp"
#include "tests/support/toy_machine.hpp"

#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <sstream>

using namespace orrery;  // NOLINT(google-build-using-namespace)

namespace {

struct Case {
    Transformer model;
    Training training;
    Plan plan;
    std::int64_t gpus_per_node = 8;
};

std::string describe(const Case& c) {
    std::ostringstream out;
    out << "t" << c.plan.tensor << " p" << c.plan.pipeline << " v" << c.plan.virtual_stages << " d"
        << c.plan.data << " layers " << c.model.layers << " batch " << c.training.global_batch
        << " b" << c.training.micro_batch << " group " << c.plan.microbatch_group << " schedule "
        << static_cast<int>(c.plan.schedule) << " sp " << c.plan.sequence_parallel << " kind "
        << static_cast<int>(c.plan.data_parallel_kind) << " overlaps " << c.plan.overlap_grad_reduce
        << c.plan.overlap_param_gather << c.plan.overlap_p2p << " recompute "
        << static_cast<int>(c.plan.recompute) << "/" << static_cast<int>(c.plan.recompute_method)
        << "/" << c.plan.recompute_layers << " attention " << static_cast<int>(c.training.attention)
        << " loss " << static_cast<int>(c.training.cross_entropy) << " tied "
        << c.model.tied_embeddings << " node " << c.gpus_per_node;
    return out.str();
}

template <typename T>
T pick(std::initializer_list<T> values) {
    return *rc::gen::elementOf(std::vector<T>(values));
}

Transformer random_model() {
    Transformer model;
    model.name = "random";
    model.heads = 4;
    model.kv_heads = 4;
    model.head_dim = pick<std::int64_t>({16, 32});
    model.hidden = pick<std::int64_t>({64, 128});
    model.ffn_hidden = pick<std::int64_t>({128, 256});
    model.vocab = pick<std::int64_t>({512, 500});
    model.vocab_divisible_by = pick<std::int64_t>({1, 128});
    model.norm = pick({NormKind::RmsNorm, NormKind::LayerNorm});
    model.mlp = pick({MlpKind::SwiGlu, MlpKind::Gelu});
    model.position = pick({PositionKind::Rotary, PositionKind::Learned});
    model.max_positions = 64;
    model.qkv_bias = pick({false, true});
    model.projection_bias = pick({false, true});
    model.mlp_bias = pick({false, true});
    model.qk_norm = pick({false, true});
    model.tied_embeddings = pick({false, true});
    model.dropout = pick({0.0, 0.1});
    return model;
}

void choose_schedule(Case& c, std::int64_t microbatches) {
    Plan& plan = c.plan;
    plan.schedule = pick({ScheduleKind::GPipe, ScheduleKind::OneFOneB});
    plan.overlap_p2p = pick({false, true});
    const bool may_interleave = plan.pipeline > 1 && microbatches % plan.pipeline == 0;
    if (may_interleave && pick({false, true})) {
        plan.schedule = ScheduleKind::Interleaved;
        plan.virtual_stages = pick<std::int64_t>({2, 3});
        plan.microbatch_group = plan.pipeline;
        // Without overlap Megatron's interleaved exchange needs more than two stages.
        plan.overlap_p2p = plan.pipeline == 2 || plan.overlap_p2p;
    }
}

Case random_case() {
    Case c;
    c.model = random_model();
    Plan& plan = c.plan;
    plan.tensor = pick<std::int64_t>({1, 2, 4});
    plan.pipeline = pick<std::int64_t>({1, 2, 3, 4});
    plan.data = pick<std::int64_t>({1, 2, 3, 4});
    c.gpus_per_node = pick<std::int64_t>({4, 8});
    const std::int64_t microbatches = *rc::gen::inRange<std::int64_t>(1, 13);
    c.training.sequence_length = 64;
    c.training.micro_batch = pick<std::int64_t>({1, 2});
    c.training.global_batch = microbatches * c.training.micro_batch * plan.data;
    c.training.attention = pick({AttentionImpl::Flash, AttentionImpl::Unfused});
    c.training.cross_entropy =
        pick({CrossEntropy::Unfused, CrossEntropy::Fused, CrossEntropy::VocabParallel});
    c.training.recipe = pick({Recipe::Fp32MainGrads, Recipe::Classic, Recipe::Pure});
    choose_schedule(c, microbatches);
    const std::int64_t stages = plan.pipeline * plan.virtual_stages;
    c.model.layers =
        stages * pick<std::int64_t>({1, 2}) + *rc::gen::inRange<std::int64_t>(0, stages);
    plan.stage_layers =
        split_layers(c.model.layers, stages, pick({false, true}), pick({false, true}));
    plan.sequence_parallel = plan.tensor > 1 && pick({false, true});
    plan.data_parallel_kind = pick({DataParallelKind::Ddp, DataParallelKind::DistributedOptimizer});
    plan.zero =
        plan.data_parallel_kind == DataParallelKind::Ddp ? ZeroStage::None : ZeroStage::Optimizer;
    plan.bucket_size = pick<std::int64_t>({20'000, 40'000'000});
    plan.overlap_grad_reduce = pick({false, true});
    plan.overlap_param_gather =
        plan.overlap_grad_reduce && plan.zero == ZeroStage::Optimizer && pick({false, true});
    plan.deallocate_outputs = pick({false, true});
    plan.recompute = pick({Recompute::None, Recompute::Selective, Recompute::Full});
    plan.recompute_method = pick({RecomputeMethod::Uniform, RecomputeMethod::Block});
    plan.recompute_layers = pick<std::int64_t>({1, 2});
    return c;
}

struct Run {
    BuiltPrograms built;
    RunRecord record;
};

Run run(const Case& c, bool unfolded) {
    const GpuProfile gpu = toy::gpu();
    const FrameworkProfile framework = toy::framework();
    const KernelTimes times(gpu, framework);
    Run made{build_programs(c.model, c.training, c.plan, framework, times, gpu.kernel_gap), {}};
    const RankMesh mesh(c.plan);
    const Cluster cluster = toy::nodes(mesh.world_size(), c.gpus_per_node);
    AnalyticNetwork network(cluster);
    const Contention contention(gpu);
    made.record =
        run_programs(made.built.programs, made.built.costs,
                     fold_ranks(list_rank_groups(mesh), made.built.programs, cluster, unfolded),
                     network, contention, {});
    return made;
}

double counted_flop(const Case& c, const BuiltPrograms& built) {
    double sum = 0.0;
    for (const ProgramId id : built.programs.program_of_stage) {
        for (const Instruction& instruction : built.programs.programs[id].instructions) {
            const bool is_model = instruction.work != Work::Recompute;
            if (instruction.kind == InstructionKind::Kernel && is_model) {
                sum += built.costs[CostId(instruction.payload)].flop.si();
            }
        }
    }
    return sum * static_cast<double>(c.plan.tensor * c.plan.data);
}

std::int64_t persistent_bytes(const Program& program) {
    std::int64_t sum = 0;
    for (const TensorId tensor : program.persistent) {
        sum += program.tensors[tensor].bytes;
    }
    return sum;
}

void check_conservation(const Case& c, const Run& run) {
    RC_ASSERT(check_programs(run.built.programs) == std::vector<std::string>{});
    for (std::size_t i = 0; i < run.record.classes.size(); ++i) {
        const ClassRecord& own = run.record.classes[i];
        const Program& program =
            run.built.programs.programs[run.record.ranks.classes[ClassId(i)].program];
        RC_ASSERT(own.memory.end_bytes == persistent_bytes(program));
        RC_ASSERT(own.split.total() == run.record.step_time);
        RC_ASSERT(own.split.bubble >= SimTime());
    }
    if (c.training.attention == AttentionImpl::Flash) {
        const double analytic =
            megatron_flop(c.model, c.training.sequence_length, c.training.global_batch,
                          padded_vocab(c.model, c.plan.tensor))
                .si();
        RC_ASSERT(std::abs(counted_flop(c, run.built) / analytic - 1.0) < 1e-12);
    }
}

void check_folding(const Run& folded, const Run& unfolded) {
    RC_ASSERT(folded.record.step_time == unfolded.record.step_time);
    RC_ASSERT(folded.record.fingerprint == unfolded.record.fingerprint);
    const auto ranks = folded.record.ranks.class_of_rank.size();
    RC_ASSERT(unfolded.record.classes.size() == ranks);
    for (std::size_t r = 0; r < ranks; ++r) {
        const ClassRecord& one = unfolded.record.classes[r];
        const ClassRecord& of_class =
            folded.record.classes[folded.record.ranks.class_of_rank[r].value()];
        RC_ASSERT(one.memory.peak_bytes == of_class.memory.peak_bytes);
        RC_ASSERT(one.memory.peak_time == of_class.memory.peak_time);
        RC_ASSERT(one.split.compute == of_class.split.compute);
        RC_ASSERT(one.split.bubble == of_class.split.bubble);
        RC_ASSERT(one.split.host == of_class.split.host);
        RC_ASSERT(one.split.exposed_communication == of_class.split.exposed_communication);
    }
}

}  // namespace

TEST_CASE("bytes, memory, FLOP and time are conserved, folded or not, on 200 random valid plans") {
    rc::detail::TestParams params;
    params.seed = 20260101;
    params.maxSuccess = 200;
    params.disableShrinking = true;
    std::string failed;
    std::size_t simulated_ranks = 0;
    std::size_t folded_ranks = 0;
    const auto result = rc::detail::checkTestable(
        [&] {
            const Case c = random_case();
            failed = describe(c);
            const Run folded = run(c, false);
            RC_ASSERT_FALSE(folded.record.deadlock.has_value());
            check_conservation(c, folded);
            const Run unfolded = run(c, true);
            check_folding(folded, unfolded);
            folded_ranks += folded.record.classes.size();
            simulated_ranks += unfolded.record.classes.size();
        },
        rc::detail::TestMetadata{}, params);
    std::ostringstream told;
    rc::detail::printResultMessage(result, told);
    INFO(failed);
    INFO(told.str());
    REQUIRE(result.template is<rc::detail::SuccessResult>());
    CHECK(result.template get<rc::detail::SuccessResult>().numSuccess == 200);
    CHECK(folded_ranks < simulated_ranks / 2);  // folding folds
}
