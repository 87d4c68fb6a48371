// SPDX-License-Identifier: Apache-2.0
// Speed of the engine: events of one step, by number of simulated ranks.
#include "engine/engine.hpp"
#include "network/analytic_network.hpp"
#include "strategies/build_programs.hpp"
#include "tests/support/toy_machine.hpp"

#include <benchmark/benchmark.h>

namespace {

using namespace orrery;  // NOLINT(google-build-using-namespace)

/// Llama 3.1 405B, tensor 8, pipeline 16, `data` replicas of 16 micro-batches.
struct Job {
    Transformer model;
    Training training;
    Plan plan;

    explicit Job(std::int64_t data) {
        model.name = "llama3.1-405b";
        model.layers = 126;
        model.hidden = 16384;
        model.ffn_hidden = 53248;
        model.heads = 128;
        model.kv_heads = 8;
        model.head_dim = 128;
        model.vocab = 128256;
        training.sequence_length = 8192;
        training.global_batch = 16 * data;
        plan.tensor = 8;
        plan.sequence_parallel = true;
        plan.pipeline = 16;
        plan.data = data;
        plan.overlap_param_gather = false;
        plan.stage_layers = split_layers(126, 16, true, true);
    }
};

BuiltPrograms build(const Job& job) {
    const GpuProfile gpu = toy::gpu();
    const FrameworkProfile framework = toy::framework();
    const KernelTimes times(gpu, framework);
    return build_programs(job.model, job.training, job.plan, framework, times, gpu.kernel_gap);
}

void run_step(benchmark::State& state, bool unfolded) {
    const Job job(state.range(0));
    const BuiltPrograms built = build(job);
    const RankMesh mesh(job.plan);
    const Cluster cluster = toy::nodes(mesh.world_size(), 8);
    const Contention contention(toy::gpu());
    std::uint64_t events = 0;
    for (auto _ : state) {
        AnalyticNetwork network(cluster);
        const RunRecord record =
            run_programs(built.programs, built.costs,
                         fold_ranks(list_rank_groups(mesh), built.programs, cluster, unfolded),
                         network, contention, {});
        events += record.events;
    }
    state.counters["ranks"] = static_cast<double>(mesh.world_size());
    state.counters["events/s"] =
        benchmark::Counter(static_cast<double>(events), benchmark::Counter::kIsRate);
}

void folded(benchmark::State& state) {
    run_step(state, false);
}

void unfolded(benchmark::State& state) {
    run_step(state, true);
}

void programs(benchmark::State& state) {
    const Job job(state.range(0));
    for (auto _ : state) {
        benchmark::DoNotOptimize(build(job));
    }
}

BENCHMARK(programs)->Arg(8)->Unit(benchmark::kMillisecond);
BENCHMARK(folded)->Arg(1)->Arg(128)->Unit(benchmark::kMillisecond);
BENCHMARK(unfolded)->Arg(1)->Arg(8)->Unit(benchmark::kMillisecond);

}  // namespace
