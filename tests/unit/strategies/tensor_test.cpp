// SPDX-License-Identifier: Apache-2.0
#include "program/check.hpp"
#include "tests/catch.hpp"
#include "tests/unit/strategies/toy_job.hpp"

namespace orrery {
namespace {

/// Collectives of layer 1 on the one micro-batch, in order.
std::vector<Communication> of_layer(const BuiltPrograms& built) {
    return toy::communications(built, 0, [](const Instruction& i) { return i.layer == 1; });
}

Plan tensor_plan(bool sequence_parallel) {
    Plan plan = toy::plan(4, 4, 1, 1, 1);
    plan.sequence_parallel = sequence_parallel;
    return plan;
}

std::vector<CollectiveKind> kinds(const std::vector<Communication>& list) {
    std::vector<CollectiveKind> out;
    for (const Communication& comm : list) {
        out.push_back(comm.kind);
    }
    return out;
}

// arXiv 2205.05198 §4.2.2; Megatron-LM core/tensor_parallel/layers.py.
TEST_CASE(
    "with sequence parallelism a layer has 2 AG + 2 RS forward and 4 AG + 2 RS backward of [s, b, "
    "h]") {
    const BuiltPrograms built =
        toy::build(toy::small_llama(4), toy::training(1024, 2, 2), tensor_plan(true));
    const auto list = of_layer(built);
    using enum CollectiveKind;
    // Forward: qkv, projection, fc1, fc2. Backward: fc2, fc1, projection, qkv.
    CHECK(kinds(list) == std::vector{AllGather, ReduceScatter, AllGather, ReduceScatter,  //
                                     AllGather, AllGather, ReduceScatter,                 //
                                     AllGather, AllGather, ReduceScatter});
    for (const Communication& comm : list) {
        CHECK(comm.bytes == 1024 * 2 * 512 * 2);
        CHECK(comm.group == GroupKind::Tensor);
    }
}

TEST_CASE("without sequence parallelism a layer has 2 AllReduces forward and 2 backward") {
    const BuiltPrograms built =
        toy::build(toy::small_llama(4), toy::training(1024, 2, 2), tensor_plan(false));
    const auto list = of_layer(built);
    CHECK(list.size() == 4);
    CHECK(toy::count(list, CollectiveKind::AllReduce) == 4);
    CHECK(list.front().bytes == 1024 * 2 * 512 * 2);
}

TEST_CASE("full recomputation adds the forward's collectives once more") {
    Plan plan = tensor_plan(true);
    plan.recompute = Recompute::Full;
    const BuiltPrograms built = toy::build(toy::small_llama(4), toy::training(1024, 2, 2), plan);
    const auto list = of_layer(built);
    CHECK(toy::count(list, CollectiveKind::AllGather) == 2 + 2 + 4);
    CHECK(toy::count(list, CollectiveKind::ReduceScatter) == 2 + 2 + 2);
}

TEST_CASE("Llama 3.1 70B, s = 8192, b = 1: X is 134,217,728 bytes") {
    const Transformer model = toy::llama(2, 8192, 28672, 64, 8, 128256);
    Plan plan = toy::plan(2, 8, 1, 1, 1);
    plan.sequence_parallel = true;
    const auto list = of_layer(toy::build(model, toy::training(8192, 1, 1), plan));
    REQUIRE(list.size() == 10);
    CHECK(list.front().bytes == 134217728);
}

TEST_CASE("the ends of the model: embedding, vocabulary projection and loss") {
    Training training = toy::training(1024, 2, 2);
    const auto ends = [&](bool sequence_parallel) {
        return toy::communications(
            toy::build(toy::small_llama(4), training, tensor_plan(sequence_parallel)), 0,
            [](const Instruction& i) { return i.layer < 0 && i.microbatch >= 0; });
    };
    const std::int64_t tokens = 1024 * 2;
    using enum CollectiveKind;
    training.cross_entropy = CrossEntropy::Unfused;
    CHECK(kinds(ends(false)) == std::vector{AllReduce, AllReduce, AllReduce, AllReduce, AllReduce});
    CHECK(ends(false)[1].bytes == tokens * 4);
    training.cross_entropy = CrossEntropy::Fused;
    CHECK(kinds(ends(false)) == std::vector{AllReduce, AllReduce, AllReduce, AllReduce});
    CHECK(ends(false)[2].bytes == 2 * tokens * 4);
    training.cross_entropy = CrossEntropy::VocabParallel;
    // Embedding RS; projection AG; loss AG; projection AG and RS backward; embedding AG.
    CHECK(kinds(ends(true)) ==
          std::vector{ReduceScatter, AllGather, AllGather, AllGather, ReduceScatter, AllGather});
    CHECK(ends(true)[2].bytes == 3 * tokens * 4 * 4);
}

TEST_CASE("a lone rank communicates nothing") {
    Plan plan = toy::plan(4, 1, 1, 1, 1);
    plan.sequence_parallel = true;
    const BuiltPrograms built = toy::build(toy::small_llama(4), toy::training(1024, 4, 1), plan);
    CHECK(toy::communications(built, 0, [](const Instruction&) { return true; }).empty());
    CHECK(check_programs(built.programs).empty());
    CHECK_FALSE(built.programs.crosses_step_border);
}

TEST_CASE(
    "a weight gradient's input gather is issued before the input gradient's product, and its "
    "reduction before the weight gradient's") {
    const BuiltPrograms built = toy::build(toy::small_llama(1), toy::training(1024, 2, 2), [] {
        Plan plan = toy::plan(1, 4, 1, 1, 1);
        plan.sequence_parallel = true;
        return plan;
    }());
    std::vector<std::string> story;
    for (const Instruction& i : toy::program(built, 0).instructions) {
        const bool is_mlp_up =
            i.kind == InstructionKind::Kernel && built.programs.names[i.name] == "mlp_up";
        if (i.work == Work::Backward && is_mlp_up) {
            const auto& gemm = std::get<GemmKernel>(built.costs[CostId(i.payload)].kernel);
            story.emplace_back(gemm.layout == GemmLayout::NN ? "dgrad" : "wgrad");
            story.back() += i.num_waits > 0 ? " waits" : "";
        } else if (i.kind == InstructionKind::Collective) {
            const NameId name = built.programs.communications[CommId(i.payload)].name;
            if (built.programs.names[name].starts_with("mlp_up ") &&
                built.programs.names[name] != "mlp_up input gather") {
                story.push_back(built.programs.names[name]);
            }
        }
    }
    CHECK(story == std::vector<std::string>{"mlp_up input gather (backward)", "dgrad",
                                            "mlp_up input gradient reduction", "wgrad waits"});
}

}  // namespace
}  // namespace orrery
