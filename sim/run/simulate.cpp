// SPDX-License-Identifier: Apache-2.0
#include "run/simulate.hpp"

#include "base/assert.hpp"
#include "cost/contention.hpp"
#include "cost/kernel_time.hpp"
#include "engine/engine.hpp"
#include "engine/folding.hpp"
#include "network/analytic_network.hpp"
#include "plan/rank_mesh.hpp"
#include "program/check.hpp"

#include <chrono>
#include <utility>

namespace orrery {
namespace {

BuiltPrograms build(const Scenario& scenario) {
    const KernelTimes times(scenario.gpu, scenario.framework);
    BuiltPrograms built = build_programs(scenario.model, scenario.training, scenario.plan,
                                         scenario.framework, times, scenario.gpu.kernel_gap);
    const std::vector<std::string> faults = check_programs(built.programs);
    ORRERY_ASSERT(faults.empty(), faults.front().c_str());
    return built;
}

RunRecord run(const Scenario& scenario, const BuiltPrograms& built, const EngineOptions& options,
              bool unfolded) {
    const RankMesh mesh(scenario.plan);
    AnalyticNetwork network(scenario.cluster);
    return run_programs(
        built.programs, built.costs,
        fold_ranks(list_rank_groups(mesh), built.programs, scenario.cluster, unfolded), network,
        Contention(scenario.gpu), options);
}

/// The class with the highest peak of memory; of equals the one with the lowest rank.
ClassId fullest_class(const RunRecord& record) {
    ClassId fullest;
    for (std::size_t c = 1; c < record.classes.size(); ++c) {
        const std::int64_t peak = record.classes[c].memory.peak_bytes;
        const std::int64_t highest = record.classes[fullest.value()].memory.peak_bytes;
        const auto& classes = record.ranks.classes;
        const bool is_lower = classes[ClassId(c)].representative < classes[fullest].representative;
        if (peak > highest || (peak == highest && is_lower)) {
            fullest = ClassId(c);
        }
    }
    return fullest;
}

/// The events of every rank by itself would not fit in memory; folding keeps all times and bytes,
/// so the fullest rank's memory events come from a folded run.
void add_memory_events(RunRecord& record, const RunRecord& folded) {
    const ClassId fullest = fullest_class(record);
    const RankId rank = record.ranks.classes[fullest].representative;
    const MemoryRecord& same =
        folded.classes[folded.ranks.class_of_rank[rank.value()].value()].memory;
    MemoryRecord& memory = record.classes[fullest.value()].memory;
    ORRERY_ASSERT(same.peak_bytes == memory.peak_bytes,
                  "folding keeps every rank's peak of memory");
    memory.events = same.events;
}

RunRecord run_with_memory_events(const Scenario& scenario, const BuiltPrograms& built,
                                 const SimulateOptions& options) {
    EngineOptions engine;
    engine.progress = options.progress;
    engine.record = options.record;
    if (!options.unfolded && options.record == RecordLevel::None) {
        engine.record = RecordLevel::Memory;
    }
    RunRecord record = run(scenario, built, engine, options.unfolded);
    if (record.is_stopped || record.deadlock || engine.record != RecordLevel::None) {
        return record;
    }
    engine.record = RecordLevel::Memory;
    if (options.progress) {
        engine.progress = [&](double) { return options.progress(1.0); };
    }
    const RunRecord folded = run(scenario, built, engine, false);
    record.is_stopped = folded.is_stopped;
    if (!record.is_stopped) {
        add_memory_events(record, folded);
    }
    return record;
}

Result report(const Scenario& scenario, const BuiltPrograms& built, const RunRecord& record) {
    // MFU is against the dense bf16 peak whatever the precision: the convention of Megatron-LM.
    const auto peak = scenario.gpu.peak.find(Dtype::Bf16);
    ORRERY_ASSERT(peak != scenario.gpu.peak.end(), "every GPU profile states its bf16 peak");
    Result result = summarize({scenario.name, scenario.model, scenario.training, scenario.plan,
                               scenario.cluster, scenario.gpu.memory_capacity, peak->second,
                               built.programs, built.costs, record});
    result.notes.insert(result.notes.end(), scenario.notes.begin(), scenario.notes.end());
    return result;
}

}  // namespace

Expected<Simulation> simulate(const Scenario& scenario, const SimulateOptions& options) {
    const auto begin = std::chrono::steady_clock::now();
    if (Diagnostics faults = check_schedule(scenario.plan, scenario.training); !faults.empty()) {
        return fail(std::move(faults));
    }
    Simulation simulation;
    simulation.built = build(scenario);

    simulation.record = run_with_memory_events(scenario, simulation.built, options);
    if (simulation.record.is_stopped) {
        return simulation;
    }
    simulation.result = report(scenario, simulation.built, simulation.record);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    simulation.result.wall_time = took.count();
    return simulation;
}

}  // namespace orrery
