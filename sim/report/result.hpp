// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/units.hpp"
#include "cluster/cluster.hpp"
#include "cost/cost_table.hpp"
#include "engine/run_record.hpp"
#include "model/training.hpp"
#include "model/transformer.hpp"
#include "plan/plan.hpp"
#include "program/program.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace orrery {

/// A line of the communication ledger.
struct LedgerRow {
    Dimension dimension = Dimension::Tensor;
    CollectiveKind collective = CollectiveKind::AllReduce;
    std::string name;
    std::int64_t group_size = 1;
    std::int64_t bytes_per_call = 0;
    double calls_per_step = 0.0;  ///< of a rank that takes part, mean; messages sent and received
    LinkKind link = LinkKind::Nvlink;
    Seconds time;     ///< a rank's, summed over calls, mean over ranks that take part
    Seconds exposed;  ///< what the compute stream waited for it, queueing behind others included
    std::int64_t ranks = 0;  ///< that take part
};

/// A pipeline rank (all its chunks). Fractions are means over the ranks of the stage.
struct StageResult {
    std::int64_t stage = 0;
    Bytes peak_memory;                                         ///< of the stage's fullest rank
    std::array<std::int64_t, kNumMemoryCategories> at_peak{};  ///< of that rank
    double busy_fraction = 0.0;                                ///< (compute + optimizer) / step
    double bubble_fraction = 0.0;                              ///< bubble / step
    std::int64_t layers = 0;
};

/// The figures of `--json`, in SI units. Means over ranks are exact sums of whole picoseconds
/// before they become doubles, so a folded and an unfolded run give the same bits (but for
/// `events`, `simulated_ranks` and `wall_time`).
struct Result {
    std::string scenario;
    std::vector<std::string>
        description;  ///< the job in words: model and cluster, split, way of training
    std::vector<std::string> notes;  ///< what was assumed, what was never measured
    std::int64_t gpus = 0;
    /// The peak is within the capacity, and the allocator, with what it loses to fragments, could
    /// serve every request within it.
    bool is_feasible = true;
    double memory_margin =
        0.0;  ///< 1 − peak_memory / memory_capacity; negative when it does not fit
    Seconds step_time;
    double tokens_per_s = 0.0;
    double tokens_per_s_per_gpu = 0.0;
    FlopConvention flop_convention = FlopConvention::Megatron;
    Flop model_flop;
    Flop hardware_flop;       ///< of the kernels that ran, recomputation included
    FlopPerSecond peak_flop;  ///< of one GPU, dense bf16
    FlopPerSecond model_flop_per_gpu;
    double mfu = 0.0;
    double hfu = 0.0;
    double bubble_fraction = 0.0;  ///< mean bubble / step
    double overlap_fraction =
        0.0;  ///< 1 − Σ exposed / Σ communication time; 1 without communication
    std::array<Seconds, kNumDimensions> exposed_communication{};  ///< mean over ranks
    Seconds compute;
    Seconds exposed;
    Seconds bubble;
    Seconds optimizer;
    Seconds host;
    std::int64_t worst_rank = 0;  ///< the rank with the longest compute + optimizer + host
    std::int64_t worst_stage = 0;
    std::array<Seconds, 5> worst{};  ///< its compute, exposed, bubble, optimizer, host
    std::array<Seconds, kNumDimensions> worst_exposed_communication{};
    Bytes peak_memory;               ///< allocated
    Bytes peak_reserved;             ///< what the framework's allocator would hold for it
    bool is_reserved_known = false;  ///< the peak rank's memory events were recorded and replayed
    std::int64_t peak_memory_rank = 0;  ///< the lowest of equals
    std::int64_t peak_memory_stage = 0;
    Bytes memory_capacity;
    std::array<std::int64_t, kNumMemoryCategories> memory_at_peak{};
    std::vector<StageResult> stages;
    std::vector<LedgerRow> communication;
    std::array<double, 3> kernel_time_source{};  ///< fractions of kernel time by TimeSource
    std::uint64_t events = 0;
    std::int64_t simulated_ranks = 0;
    std::int64_t steps_simulated = 0;
    bool is_steady = true;
    double wall_time = 0.0;             ///< seconds this computer took
    std::vector<std::string> deadlock;  ///< who waits for whom; empty when the step ended
};

struct ResultInput {
    const std::string& scenario;
    const Transformer& model;
    const Training& training;
    const Plan& plan;
    const Cluster& cluster;
    Bytes memory_capacity;
    FlopPerSecond peak_flop;
    const ProgramSet& programs;
    const CostTable& costs;
    const RunRecord& record;
};

/// Everything a report says, from a run. Of a run that could not finish only what names it and
/// `deadlock` are filled, and it is not feasible.
/// Requires: the run was not stopped half-way.
[[nodiscard]] Result summarize(const ResultInput& input);

/// One screen for people, verdict first. Width in columns, at least 80; colour by ANSI codes where
/// asked.
[[nodiscard]] std::string text_report(const Result& result, int width, bool with_colour);

/// One object, SI units, two-space indented, schema_version 1. `peak_reserved_bytes` is null where
/// memory events were not recorded.
[[nodiscard]] std::string json_report(const Result& result);

}  // namespace orrery
