// SPDX-License-Identifier: Apache-2.0
#include "program/check.hpp"
#include "strategies/memory/state.hpp"
#include "tests/catch.hpp"
#include "tests/unit/strategies/toy_job.hpp"

#include <set>

namespace orrery {
namespace {

constexpr double kGiB = 1073741824.0;

std::int64_t persistent_bytes(const BuiltPrograms& built, std::int64_t stage,
                              const std::set<MemoryCategory>& categories) {
    std::int64_t bytes = 0;
    const Program& program = toy::program(built, stage);
    for (const TensorId tensor : program.persistent) {
        if (categories.contains(program.tensors[tensor].category)) {
            bytes += program.tensors[tensor].bytes;
        }
    }
    return bytes;
}

double state_gib(const BuiltPrograms& built) {
    return static_cast<double>(
               persistent_bytes(built, 0,
                                {MemoryCategory::Parameters, MemoryCategory::Gradients,
                                 MemoryCategory::Optimizer})) /
           kGiB;
}

// Llama 3.1 8B has 8,030,261,248 parameters: 18 B each 134.62 GiB; 6 + 12/8: 56.09; 6 +
// 12/64: 46.27.
TEST_CASE("Llama 3.1 8B's state is 134.62 GiB, 56.09 GiB over 8 shards, 46.27 GiB over 64") {
    const Transformer model = toy::llama_8b();
    Plan plan = toy::plan(32, 1, 1, 1, 1);
    CHECK(state_gib(toy::build(model, toy::training(8192, 64, 1), plan)) ==
          Approx(134.62).margin(0.005));
    plan.data_parallel_kind = DataParallelKind::DistributedOptimizer;
    plan.zero = ZeroStage::Optimizer;
    plan.data = 8;
    CHECK(state_gib(toy::build(model, toy::training(8192, 64, 1), plan)) ==
          Approx(56.09).margin(0.005));
    plan.data = 64;
    CHECK(state_gib(toy::build(model, toy::training(8192, 64, 1), plan)) ==
          Approx(46.27).margin(0.005));
}

// 12 layers, vocabulary/8, positions; column-parallel biases sharded, other biases and norms
// replicated.
TEST_CASE("GPT-3 175B's first stage of 8 with tensor 8 holds 2,822,731,776 parameters, 47.32 GiB") {
    const BuiltPrograms built =
        toy::build(toy::gpt(96, 12288, 96), toy::training(2048, 8, 1), toy::plan(96, 8, 8, 1, 1));
    CHECK(persistent_bytes(built, 0, {MemoryCategory::Parameters}) == 2 * 2822731776LL);
    CHECK(state_gib(built) == Approx(47.32).margin(0.005));
}

TEST_CASE("a tied last stage holds its copy of the table, a lone stage does not") {
    const Transformer model = toy::gpt(8, 1024, 16);
    const auto parameters = [&](std::int64_t pipeline, std::int64_t stage) {
        const BuiltPrograms built =
            toy::build(model, toy::training(2048, 8, 1), toy::plan(8, 1, pipeline, 1, 1));
        return persistent_bytes(built, stage, {MemoryCategory::Parameters}) / 2;
    };
    CHECK(parameters(1, 0) == total_parameters(model));
    CHECK(parameters(2, 0) + parameters(2, 1) == total_parameters(model) + 51200 * 1024);
}

// Bytes a parameter (Adam) as in Megatron-LM's dist_optimizer.md and arXiv 1910.02054.
TEST_CASE("recipes cost 18, 20, 16, 16 and 8 bytes a parameter unsharded") {
    const auto total = [](Recipe recipe, Dtype gradients) {
        Training training;
        training.recipe = recipe;
        const StateBytes bytes = state_bytes(training, gradients);
        return bytes.parameter + bytes.gradient + bytes.optimizer;
    };
    CHECK(total(Recipe::Fp32MainGrads, Dtype::Fp32) == 18);
    CHECK(total(Recipe::Fp32MainGrads, Dtype::Bf16) == 20);
    CHECK(total(Recipe::Fp32Params, Dtype::Fp32) == 16);
    CHECK(total(Recipe::Classic, Dtype::Fp16) == 16);
    CHECK(total(Recipe::Pure, Dtype::Bf16) == 8);
}

TEST_CASE(
    "the optimizer's step moves 30 bytes a parameter with fp32 main gradients, 28 with fp32 "
    "parameters") {
    const auto total = [](Recipe recipe) {
        Training training;
        training.recipe = recipe;
        const StepTraffic traffic = step_traffic(training, Dtype::Fp32);
        return traffic.read + traffic.written;
    };
    CHECK(total(Recipe::Fp32MainGrads) == 30);
    CHECK(total(Recipe::Fp32Params) == 28);
}

// arXiv 2205.05198 table 3's models: first-stage activations in GiB, layers only.
struct PublishedActivations {
    std::int64_t layers, hidden, heads, micro_batch, pipeline, virtual_stages;
    double tensor, sequence, selective, full;
};

bool is_of_a_layer(const std::string& tensor) {
    for (const char* other :
         {"word_", "position_", "embedding_", "final_norm", "vocab_", "cross_entropy"}) {
        if (tensor.starts_with(other)) {
            return false;
        }
    }
    return true;
}

double gib(std::int64_t bytes) {
    return static_cast<double>(bytes) / kGiB;
}

BuiltPrograms published(const PublishedActivations& row, bool sequence, Recompute recompute) {
    const std::int64_t microbatches = row.pipeline * (row.virtual_stages > 1 ? 2 : 1);
    Training training = toy::training(2048, row.micro_batch * microbatches, row.micro_batch);
    training.attention = AttentionImpl::Unfused;
    Plan plan = toy::plan(row.layers, 8, row.pipeline, row.virtual_stages, 1);
    plan.sequence_parallel = sequence;
    plan.recompute = recompute;
    return toy::build(toy::gpt(row.layers, row.hidden, row.heads), training, plan);
}

/// Peak activations of the first stage's layers. With recomputation the formulas count what is
/// kept from forward to backward and leave out the layer that is being run again.
double layer_activations(const PublishedActivations& row, bool sequence, Recompute recompute) {
    return gib(toy::peak_bytes(
        published(row, sequence, recompute), 0, MemoryCategory::Activations, is_of_a_layer,
        recompute == Recompute::None ? toy::Look::Always : toy::Look::BetweenPasses));
}

TEST_CASE("first-stage activations of 22B, 175B, 530B and 1T are Korthikanti's within 1%") {
    const std::vector<PublishedActivations> rows{
        {48, 6144, 64, 4, 1, 1, 59.25, 39.56, 9.56, 4.50},
        {96, 12288, 96, 1, 8, 3, 66.84, 41.41, 12.35, 5.81},
        {105, 20480, 128, 1, 35, 3, 114.02, 66.51, 23.08, 10.86},
        {128, 25600, 160, 1, 64, 1, 131.25, 76.56, 26.56, 12.50}};
    for (const PublishedActivations& row : rows) {
        CAPTURE(row.layers);
        CHECK(layer_activations(row, false, Recompute::None) == Approx(row.tensor).epsilon(0.01));
        CHECK(layer_activations(row, true, Recompute::None) == Approx(row.sequence).epsilon(0.01));
        CHECK(layer_activations(row, true, Recompute::Selective) ==
              Approx(row.selective).epsilon(0.01));
        CHECK(layer_activations(row, false, Recompute::Full) == Approx(row.full).epsilon(0.01));
    }
}

// 59.25 GiB of 48 layers without recomputation; 4.50 GiB of inputs.
TEST_CASE("full recomputation peaks at the kept inputs and one layer being run again") {
    const PublishedActivations row{48, 6144, 64, 4, 1, 1, 0, 0, 0, 0};
    const double peak =
        gib(toy::peak_bytes(published(row, false, Recompute::Full), 0, MemoryCategory::Activations,
                            is_of_a_layer, toy::Look::Always));
    const double layer = 59.25 / 48.0;
    CHECK(peak > 4.50 + layer * 0.95);
    CHECK(peak < 4.50 + layer * 1.35);  // and the gradients and scores that are on their way
}

}  // namespace
}  // namespace orrery
