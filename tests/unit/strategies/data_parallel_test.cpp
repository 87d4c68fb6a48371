// SPDX-License-Identifier: Apache-2.0
#include "strategies/gradient_buckets.hpp"
#include "tests/catch.hpp"
#include "tests/unit/strategies/toy_job.hpp"

#include <algorithm>

namespace orrery {
namespace {

Chunk chunk_of(const std::vector<std::int64_t>& elements) {
    Chunk chunk;
    for (std::size_t i = 0; i < elements.size(); ++i) {
        chunk.parameters.push_back({elements[i], false, i, 0});
    }
    return chunk;
}

bool is_data(const Instruction& i) {
    return i.stream == StreamKind::Data;
}

// Parameters in model order 30, 50, 100, 70, bucket size 120: from the back 70 + 100 close the
// first bucket, 50 + 30 are left for the second.
TEST_CASE("buckets fill in reverse model order and close once they hold the bucket size") {
    const GradientBuffer buffer = lay_out_gradients(chunk_of({30, 50, 100, 70}), 120, 0);
    REQUIRE(buffer.buckets.size() == 2);
    CHECK(buffer.buckets[0].elements == 170);
    CHECK(buffer.buckets[0].first == 2);
    CHECK(buffer.buckets[0].last == 3);
    CHECK(buffer.buckets[1].elements == 80);
    CHECK(buffer.buckets[1].first == 0);
    CHECK(lay_out_gradients(chunk_of({30, 50, 100, 70}), 0, 0).buckets.size() == 1);
}

// 70 from 0, 100 from 128 (next multiple of 64) to 228: padded to lcm(6, 128) = 384; 50, then 30
// from 64: 94.
TEST_CASE("the distributed optimizer starts parameters on 64 and ends buckets on lcm(D, 128)") {
    const GradientBuffer buffer = lay_out_gradients(chunk_of({30, 50, 100, 70}), 120, 6);
    REQUIRE(buffer.buckets.size() == 2);
    CHECK(buffer.buckets[0].elements == 384);
    CHECK(buffer.buckets[1].elements == 384);
    CHECK(buffer.elements() == 768);
}

Plan data_plan(std::int64_t pipeline, std::int64_t virtual_stages) {
    Plan plan = toy::plan(8, 1, pipeline, virtual_stages, 4);
    plan.data_parallel_kind = DataParallelKind::DistributedOptimizer;
    plan.zero = ZeroStage::Optimizer;
    plan.bucket_size = 4'000'000;
    return plan;
}

std::int64_t bytes_of(const std::vector<Communication>& list, CollectiveKind kind) {
    std::int64_t bytes = 0;
    for (const Communication& comm : list) {
        bytes += comm.kind == kind && comm.group == GroupKind::Data ? comm.bytes : 0;
    }
    return bytes;
}

// Llama 3.1 8B, D = 8: 4 B gradients and 2 B parameters of 8,030,261,248 each once, ring factor
// apart.
TEST_CASE("a step reduce-scatters 4 bytes and gathers 2 bytes a parameter, once") {
    Plan plan = toy::plan(32, 1, 1, 1, 8);
    plan.data_parallel_kind = DataParallelKind::DistributedOptimizer;
    const BuiltPrograms built = toy::build(toy::llama_8b(), toy::training(8192, 16, 1), plan);
    const auto list = toy::communications(built, 0, is_data);
    const auto sent = [&](CollectiveKind kind) {
        return static_cast<double>(bytes_of(list, kind)) * 7.0 / 8.0 / 1e9;
    };
    CHECK(sent(CollectiveKind::ReduceScatter) == Approx(28.1).margin(0.05));
    CHECK(sent(CollectiveKind::AllGather) == Approx(14.05).margin(0.005));
    CHECK(toy::count(list, CollectiveKind::ReduceScatter) > 50);
}

TEST_CASE("plain data parallelism all-reduces, and D = 1 does nothing") {
    Plan plan = toy::plan(8, 1, 1, 1, 4);
    const BuiltPrograms built = toy::build(toy::small_llama(8), toy::training(256, 8, 1), plan);
    const auto list = toy::communications(built, 0, is_data);
    CHECK(bytes_of(list, CollectiveKind::AllReduce) == 4 * total_parameters(toy::small_llama(8)));
    CHECK(toy::count(list, CollectiveKind::AllGather) == 0);
    CHECK_FALSE(built.programs.crosses_step_border);
    plan.data = 1;
    const BuiltPrograms alone = toy::build(toy::small_llama(8), toy::training(256, 8, 1), plan);
    CHECK(toy::communications(alone, 0, is_data).empty());
}

TEST_CASE("only pipeline rank 0 has several buckets, and none without overlap") {
    Plan plan = data_plan(4, 1);
    const auto reductions = [&](std::int64_t stage) {
        const BuiltPrograms built =
            toy::build(toy::small_llama(8), toy::training(256, 32, 1), plan);
        return toy::count(toy::communications(built, stage, is_data),
                          CollectiveKind::ReduceScatter);
    };
    // 2 layers of 3.1 M parameters (the second closes over 4 M with the first's end) and the
    // table's 0.5 M.
    CHECK(reductions(0) == 2);
    CHECK(reductions(1) == 1);
    plan.overlap_grad_reduce = false;
    plan.overlap_param_gather = false;
    CHECK(reductions(0) == 1);
}

/// (kind, micro-batch, chunk) of what a stage does, kernels of one pass as one entry, data
/// collectives apart.
std::vector<std::string> story(const BuiltPrograms& built, std::int64_t stage) {
    std::vector<std::string> out;
    for (const Instruction& i : toy::program(built, stage).instructions) {
        std::string word;
        if (i.kind == InstructionKind::Collective && i.stream == StreamKind::Data) {
            const Communication& comm = built.programs.communications[CommId(i.payload)];
            word = std::string(to_string(comm.kind)) + "." + std::to_string(i.chunk);
        } else if (i.kind == InstructionKind::Kernel && i.work != Work::Optimizer) {
            word = (i.work == Work::Forward ? "F" : "BW") + std::to_string(i.microbatch) + "." +
                   std::to_string(i.chunk);
        } else if (i.kind == InstructionKind::Kernel && built.programs.names[i.name] == "adam") {
            word = "adam";
        }
        if (!word.empty() && (out.empty() || out.back() != word || word[0] == 'A')) {
            out.push_back(word);
        }
    }
    return out;
}

std::size_t index_of(const std::vector<std::string>& list, const std::string& word) {
    return static_cast<std::size_t>(std::find(list.begin(), list.end(), word) - list.begin());
}

TEST_CASE("without virtual stages rank 0 reduces under its last backward, the others after it") {
    const BuiltPrograms built =
        toy::build(toy::small_llama(8), toy::training(256, 16, 1), data_plan(2, 1));
    const auto first = story(built, 0);
    const auto last = story(built, 1);
    // On rank 0 the backward goes on after the first reduction; on rank 1 nothing but the step's
    // end.
    const std::size_t at = index_of(first, "ReduceScatter.0");
    REQUIRE(at < first.size());
    CHECK(first[at - 1] == "BW3.0");
    CHECK(first[at + 1] == "BW3.0");
    const std::size_t only = index_of(last, "ReduceScatter.0");
    CHECK(last[only - 1] == "BW3.0");
    CHECK(last[only + 1] == "AllReduce.0");
    CHECK(last[only + 2] == "adam");
}

// p = 2, v = 2, m = 4: backward steps 0…7 are chunk 1 (mb 0, 1), chunk 0 (0, 1), chunk 1 (2, 3),
// chunk 0 (2, 3). Chunk 1 is done at step 5, chunk 0 at step 7; rank 1 starts each one step later.
TEST_CASE("with virtual stages rank r reduces a chunk r backward steps after its last backward") {
    const BuiltPrograms built =
        toy::build(toy::small_llama(8), toy::training(256, 16, 1), data_plan(2, 2));
    const auto first = story(built, 0);
    const auto last = story(built, 1);
    const std::size_t on_first = index_of(first, "ReduceScatter.1");
    CHECK(first[on_first - 1] == "BW3.1");
    const std::size_t on_last = index_of(last, "ReduceScatter.1");
    CHECK(last[on_last - 1] == "BW2.0");
    CHECK(index_of(last, "ReduceScatter.0") > index_of(last, "BW3.0"));
    CHECK(built.programs.crosses_step_border);
}

TEST_CASE("gathers run at the step's start under overlap, after the optimizer without") {
    Plan plan = data_plan(2, 2);
    const BuiltPrograms overlapped =
        toy::build(toy::small_llama(8), toy::training(256, 16, 1), plan);
    const auto early = story(overlapped, 1);
    CHECK(early[0] == "AllGather.0");
    CHECK(early[1] == "AllGather.1");
    CHECK(early[2] == "F0.0");
    plan.overlap_param_gather = false;
    const BuiltPrograms plain = toy::build(toy::small_llama(8), toy::training(256, 16, 1), plan);
    const auto late = story(plain, 1);
    CHECK(late.front() == "F0.0");
    CHECK(index_of(late, "AllGather.0") > index_of(late, "adam"));
    CHECK_FALSE(plain.programs.crosses_step_border);
}

TEST_CASE("without virtual stages a module waits for its bucket and starts the next") {
    Plan plan = data_plan(1, 1);
    const BuiltPrograms built = toy::build(toy::small_llama(8), toy::training(256, 16, 1), plan);
    const auto words = story(built, 0);
    const auto gathers = std::count(words.begin(), words.end(), "AllGather.0");
    REQUIRE(gathers > 3);
    // The first two are issued before any kernel, the third once the second bucket is needed.
    CHECK(words[0] == "AllGather.0");
    CHECK(words[1] == "AllGather.0");
    CHECK(words[2] == "F0.0");
    CHECK(words[3] == "AllGather.0");
    CHECK(words[4] == "F0.0");
}

TEST_CASE(
    "the end of the step: replicated gradients, tied embeddings, norm, one 4-byte reduction") {
    Plan plan = toy::plan(4, 2, 2, 1, 2);
    plan.sequence_parallel = true;
    const Transformer model = toy::gpt(4, 512, 8);
    const BuiltPrograms built = toy::build(model, toy::training(512, 8, 1), plan);
    const auto of_step = [&](std::int64_t stage) {
        return toy::communications(built, stage,
                                   [](const Instruction& i) { return i.microbatch < 0; });
    };
    const auto first = of_step(0);
    REQUIRE(first.size() == 3);
    // 2 layers: 2 norms of 2h, 2 biases of h after a reduction; 2048 positions of h on the first
    // stage.
    CHECK(first[0].group == GroupKind::Tensor);
    CHECK(first[0].bytes == 4 * (2 * (2 * 2 * 512 + 2 * 512) + 2048 * 512));
    CHECK(first[1].group == GroupKind::Embedding);
    CHECK(first[1].bytes == 4 * 51200 / 2 * 512);
    CHECK(first[2].group == GroupKind::World);
    CHECK(first[2].bytes == 4);
    CHECK(of_step(1).size() == 4);  // its gradients are reduced after the last pass

    std::int64_t host_waits = 0;
    for (const Instruction& i : toy::program(built, 0).instructions) {
        host_waits += i.kind == InstructionKind::HostWait ? 1 : 0;
    }
    CHECK(host_waits == 1);
}

}  // namespace
}  // namespace orrery
