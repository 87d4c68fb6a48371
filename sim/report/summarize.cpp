// SPDX-License-Identifier: Apache-2.0
#include "base/assert.hpp"
#include "model/flop_count.hpp"
#include "report/caching_allocator.hpp"
#include "report/describe.hpp"
#include "report/ledger.hpp"
#include "report/result.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace orrery {

namespace {

/// The parts of a step, summed over ranks.
struct SplitSum {
    std::int64_t ranks = 0;
    WideSum compute = 0;
    WideSum bubble = 0;
    WideSum optimizer = 0;
    WideSum host = 0;
    std::array<WideSum, kNumDimensions> exposed{};

    void add(const TimeSplit& split, std::int64_t count) {
        ranks += count;
        compute += WideSum{split.compute.ps()} * count;
        bubble += WideSum{split.bubble.ps()} * count;
        optimizer += WideSum{split.optimizer.ps()} * count;
        host += WideSum{split.host.ps()} * count;
        for (std::size_t d = 0; d < kNumDimensions; ++d) {
            exposed.at(d) += WideSum{split.exposed_communication.at(d).ps()} * count;
        }
    }
};

const RankClass& class_at(const RunRecord& record, std::size_t c) {
    return record.ranks.classes.items()[c];
}

std::int64_t stage_of(const ResultInput& input, std::size_t c) {
    return input.programs.programs[class_at(input.record, c).program].stage;
}

/// The class that comes first by `before`; of equals the one with the lowest rank.
template <typename Before>
std::size_t first_class(const RunRecord& record, Before before) {
    std::size_t best = 0;
    for (std::size_t c = 1; c < record.classes.size(); ++c) {
        const bool is_equal = !before(c, best) && !before(best, c);
        const bool is_lower =
            class_at(record, c).representative < class_at(record, best).representative;
        if (before(c, best) || (is_equal && is_lower)) {
            best = c;
        }
    }
    return best;
}

void fill_times(const ResultInput& input, Result& result) {
    SplitSum sum;
    std::array<WideSum, 3> by_source{};
    for (std::size_t c = 0; c < input.record.classes.size(); ++c) {
        const ClassRecord& record = input.record.classes[c];
        const std::int64_t count = class_at(input.record, c).count;
        sum.add(record.split, count);
        for (std::size_t s = 0; s < by_source.size(); ++s) {
            by_source.at(s) += WideSum{record.kernel_ps_by_source.at(s)} * count;
        }
    }
    WideSum exposed = 0;
    for (std::size_t d = 0; d < kNumDimensions; ++d) {
        result.exposed_communication.at(d) = mean_seconds(sum.exposed.at(d), sum.ranks);
        exposed += sum.exposed.at(d);
    }
    result.compute = mean_seconds(sum.compute, sum.ranks);
    result.exposed = mean_seconds(exposed, sum.ranks);
    result.bubble = mean_seconds(sum.bubble, sum.ranks);
    result.optimizer = mean_seconds(sum.optimizer, sum.ranks);
    result.host = mean_seconds(sum.host, sum.ranks);
    result.bubble_fraction = result.bubble / result.step_time;
    const WideSum kernels = by_source[0] + by_source[1] + by_source[2];
    for (std::size_t s = 0; s < by_source.size() && kernels > 0; ++s) {
        result.kernel_time_source.at(s) =
            static_cast<double>(by_source.at(s)) / static_cast<double>(kernels);
    }
}

void fill_worst_rank(const ResultInput& input, Result& result) {
    const auto own_time = [&](std::size_t c) {
        const TimeSplit& split = input.record.classes[c].split;
        return split.compute + split.optimizer + split.host;
    };
    const std::size_t worst = first_class(
        input.record, [&](std::size_t a, std::size_t b) { return own_time(a) > own_time(b); });
    const TimeSplit& split = input.record.classes[worst].split;
    SimTime exposed;
    for (std::size_t d = 0; d < kNumDimensions; ++d) {
        exposed += split.exposed_communication.at(d);
        result.worst_exposed_communication.at(d) = split.exposed_communication.at(d).seconds();
    }
    result.worst_rank = class_at(input.record, worst).representative.value();
    result.worst_stage = stage_of(input, worst);
    result.worst = {split.compute.seconds(), exposed.seconds(), split.bubble.seconds(),
                    split.optimizer.seconds(), split.host.seconds()};
}

void fill_stages(const ResultInput& input, Result& result) {
    const auto num_stages = input.programs.program_of_stage.size();
    std::vector<SplitSum> sums(num_stages);
    result.stages.resize(num_stages);
    for (std::size_t s = 0; s < num_stages; ++s) {
        const auto peak_in_stage = [&](std::size_t c) {
            return stage_of(input, c) == static_cast<std::int64_t>(s)
                       ? input.record.classes[c].memory.peak_bytes
                       : std::int64_t{-1};
        };
        const std::size_t fullest = first_class(input.record, [&](std::size_t a, std::size_t b) {
            return peak_in_stage(a) > peak_in_stage(b);
        });
        const MemoryRecord& memory = input.record.classes[fullest].memory;
        result.stages[s].peak_memory = Bytes(static_cast<double>(memory.peak_bytes));
        result.stages[s].at_peak = memory.at_peak;
    }
    for (std::size_t c = 0; c < input.record.classes.size(); ++c) {
        sums[static_cast<std::size_t>(stage_of(input, c))].add(input.record.classes[c].split,
                                                               class_at(input.record, c).count);
    }
    const auto& layers = input.plan.stage_layers;
    for (std::size_t s = 0; s < num_stages; ++s) {
        StageResult& stage = result.stages[s];
        stage.stage = static_cast<std::int64_t>(s);
        if (sums[s].ranks > 0) {
            stage.busy_fraction =
                mean_seconds(sums[s].compute + sums[s].optimizer, sums[s].ranks) / result.step_time;
            stage.bubble_fraction = mean_seconds(sums[s].bubble, sums[s].ranks) / result.step_time;
        }
        for (std::size_t v = s; v < layers.size(); v += num_stages) {
            stage.layers += layers[v];
        }
    }
}

void fill_memory(const ResultInput& input, Result& result) {
    const auto peak_bytes = [&](std::size_t c) {
        return input.record.classes[c].memory.peak_bytes;
    };
    const std::size_t peak = first_class(
        input.record, [&](std::size_t a, std::size_t b) { return peak_bytes(a) > peak_bytes(b); });
    const MemoryRecord& memory = input.record.classes[peak].memory;
    const Program& program = input.programs.programs[class_at(input.record, peak).program];
    result.peak_memory = Bytes(static_cast<double>(memory.peak_bytes));
    result.memory_at_peak = memory.at_peak;
    result.peak_memory_rank = class_at(input.record, peak).representative.value();
    result.peak_memory_stage = program.stage;
    result.memory_margin = 1.0 - result.peak_memory / result.memory_capacity;
    result.is_feasible = result.peak_memory <= result.memory_capacity;

    std::int64_t persistent = 0;
    for (const TensorId tensor : program.persistent) {
        persistent += program.tensors[tensor].bytes;
    }
    result.is_reserved_known = !memory.events.empty() || memory.peak_bytes == persistent;
    if (result.is_reserved_known) {
        const auto capacity = static_cast<std::int64_t>(input.memory_capacity.si());
        const ReservedMemory reserved =
            replay_allocator(program, memory.events, input.training.allocator, capacity);
        result.peak_reserved = Bytes(static_cast<double>(reserved.peak_bytes));
        result.is_feasible = result.is_feasible && reserved.fits;
    }
}

/// What all ranks execute: FLOP of every kernel, and time by row of the cost table.
struct Executed {
    Flop flop;
    std::vector<WideSum> ps_of_cost;
};

Executed executed_kernels(const ResultInput& input) {
    std::vector<std::int64_t> ranks_of_program(input.programs.programs.size());
    for (const RankClass& each : input.record.ranks.classes) {
        ranks_of_program[each.program.value()] += each.count;
    }
    Executed executed;
    executed.ps_of_cost.resize(input.costs.size());
    for (std::size_t p = 0; p < ranks_of_program.size(); ++p) {
        Flop flop;
        for (const Instruction& instruction : input.programs.programs.items()[p].instructions) {
            if (instruction.kind == InstructionKind::Kernel) {
                const CostRow& row = input.costs[CostId(instruction.payload)];
                flop += row.flop;
                executed.ps_of_cost[instruction.payload] +=
                    WideSum{row.duration.ps()} * ranks_of_program[p];
            }
        }
        executed.flop += flop * static_cast<double>(ranks_of_program[p]);
    }
    return executed;
}

void fill_flop(const ResultInput& input, Result& result) {
    const Executed executed = executed_kernels(input);
    const Training& training = input.training;
    result.flop_convention = training.flop_convention;
    result.model_flop =
        training_flop(training.flop_convention, input.model, training.sequence_length,
                      training.global_batch, padded_vocab(input.model, input.plan.tensor));
    result.hardware_flop = executed.flop;
    const Seconds gpu_time = result.step_time * static_cast<double>(result.gpus);
    result.model_flop_per_gpu = result.model_flop / gpu_time;
    result.mfu = result.model_flop_per_gpu / result.peak_flop;
    result.hfu = result.hardware_flop / gpu_time / result.peak_flop;

    WideSum total = 0;
    WideSum roofline = 0;
    std::vector<std::size_t> unmeasured;
    for (std::size_t i = 0; i < executed.ps_of_cost.size(); ++i) {
        total += executed.ps_of_cost[i];
        if (input.costs.items()[i].source == TimeSource::Roofline && executed.ps_of_cost[i] > 0) {
            roofline += executed.ps_of_cost[i];
            unmeasured.push_back(i);
        }
    }
    if (!unmeasured.empty()) {
        std::stable_sort(unmeasured.begin(), unmeasured.end(), [&](std::size_t a, std::size_t b) {
            return executed.ps_of_cost[a] > executed.ps_of_cost[b];
        });
        const double share = static_cast<double>(roofline) / static_cast<double>(total);
        result.notes.push_back(fmt::format(
            "{} kernel shape{}, {:.1f}% of kernel time, never measured nearby; longest: {}",
            unmeasured.size(), unmeasured.size() == 1 ? "" : "s", 100.0 * share,
            kernel_name(input.costs.items()[unmeasured.front()].kernel)));
    }
}

double overlap_of(const CommunicationLedger& ledger) {
    if (ledger.time == 0) {
        return 1.0;
    }
    const double exposed = static_cast<double>(ledger.exposed) / static_cast<double>(ledger.time);
    return std::max(0.0, 1.0 - exposed);
}

}  // namespace

Result summarize(const ResultInput& input) {
    const RunRecord& record = input.record;
    Result result;
    result.scenario = input.scenario;
    result.description = describe_job(input);
    result.gpus = static_cast<std::int64_t>(record.ranks.class_of_rank.size());
    result.peak_flop = input.peak_flop;
    result.memory_capacity = input.memory_capacity;
    result.events = record.events;
    result.simulated_ranks = static_cast<std::int64_t>(record.ranks.classes.size());
    result.steps_simulated = record.steps_simulated;
    result.is_steady = record.is_steady;
    if (record.deadlock) {
        result.is_feasible = false;
        result.deadlock = record.deadlock->waits;
        if (result.deadlock.empty()) {
            result.deadlock.emplace_back("the step cannot finish");
        }
        return result;
    }
    ORRERY_ASSERT(record.classes.size() == record.ranks.classes.size(),
                  "every class has its record");
    ORRERY_ASSERT(record.step_time.ps() > 0, "a step that ended took time");
    result.step_time = record.step_time.seconds();
    const double tokens = static_cast<double>(input.training.global_batch) *
                          static_cast<double>(input.training.sequence_length);
    result.tokens_per_s = tokens / result.step_time.si();
    result.tokens_per_s_per_gpu = result.tokens_per_s / static_cast<double>(result.gpus);
    fill_times(input, result);
    fill_worst_rank(input, result);
    fill_stages(input, result);
    fill_memory(input, result);
    fill_flop(input, result);
    CommunicationLedger ledger = communication_ledger(input.programs, record);
    result.communication = std::move(ledger.rows);
    result.overlap_fraction = overlap_of(ledger);
    if (!record.is_steady) {
        result.notes.push_back(fmt::format(
            "the last two of {} simulated steps took different times; the last is reported",
            record.steps_simulated));
    }
    return result;
}

}  // namespace orrery
