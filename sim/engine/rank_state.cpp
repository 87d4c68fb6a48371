// SPDX-License-Identifier: Apache-2.0
#include "engine/rank_state.hpp"

#include <algorithm>

namespace orrery {
namespace {

constexpr std::uint64_t kFnvPrime = 1099511628211ULL;
constexpr std::uint64_t kFnvBasis = 14695981039346656037ULL;

void mix(std::uint64_t& hash, std::uint64_t value) {
    hash = (hash ^ value) * kFnvPrime;
}

}  // namespace

bool spans_stages(const Communication& communication) {
    return communication.kind == CollectiveKind::SendRecv ||
           communication.group == GroupKind::Pipeline ||
           communication.group == GroupKind::Embedding || communication.group == GroupKind::World;
}

std::optional<FinishedTransfer> TransferTrail::find(std::uint32_t position) const {
    for (std::uint32_t back = 1; back <= std::min(count_, kSize); ++back) {
        const Entry& entry = entries_[(count_ - back) % kSize];
        if (entry.position == position) {
            return entry.transfer;
        }
    }
    return std::nullopt;
}

std::optional<FinishedTransfer> TransferTrail::back(std::uint32_t count) const {
    if (count >= std::min(count_, kSize)) {
        return std::nullopt;
    }
    return entries_[(count_ - 1 - count) % kSize].transfer;
}

RankState::RankState(const ProgramSet& set_in, const ProgramLayout& layout_in,
                     std::int64_t count_in)
    : set(&set_in), layout(&layout_in), count(count_in), ledger(*layout_in.program) {}

void RankState::begin_step(SimTime now, RecordLevel level) {
    ++step;
    for (std::size_t s = 0; s < kNumStreams; ++s) {
        streams[s] = StreamState{};
        trails[s].clear();
    }
    host.begin_step(now);
    next_stop = 0;
    host_is_stopped = false;
    open_instructions = 0;
    for (const auto& order : layout->order) {
        open_instructions += static_cast<std::uint32_t>(order.size());
    }
    records_slices = level == RecordLevel::Classes;
    compute_free = now;
    ledger.begin_step(now, level != RecordLevel::None);
    record = ClassRecord{};
    record.start = now;
    record.communications.resize(set->communications.size());
    hash = 0;
}

std::optional<Dependency> RankState::first_open_wait(const Instruction& waiting) const {
    for (std::uint32_t w = waiting.first_wait; w < waiting.first_wait + waiting.num_waits; ++w) {
        if (!is_done(layout->dependencies[w])) {
            return layout->dependencies[w];
        }
    }
    return std::nullopt;
}

std::optional<FinishedTransfer> RankState::last_transfer(const Instruction& waiting) const {
    std::optional<FinishedTransfer> last;
    for (std::uint32_t w = waiting.first_wait; w < waiting.first_wait + waiting.num_waits; ++w) {
        const Dependency dependency = layout->dependencies[w];
        const auto transfer = trails[dependency.stream].find(dependency.position);
        if (transfer && (!last || transfer->end > last->end)) {
            last = transfer;
        }
    }
    return last;
}

void RankState::arrive(std::size_t stream, const Instruction& head, SimTime now) {
    StreamState& state = streams[stream];
    state.is_busy = true;
    state.arrived = now;
    std::optional<FinishedTransfer> holder = last_transfer(head);
    const std::optional<FinishedTransfer> before = trails[stream].last();
    if (before && (!holder || before->end > holder->end)) {
        holder = before;
    }
    state.is_held = holder.has_value();
    state.holder = holder.value_or(FinishedTransfer{});
}

FinishedTransfer RankState::finish_transfer(std::size_t stream, CommId comm, SimTime begin,
                                            SimTime now) {
    const StreamState& state = streams[stream];
    const FinishedTransfer ended{.comm = comm,
                                 .begin = begin,
                                 .end = now,
                                 .stream = static_cast<std::uint8_t>(stream),
                                 .is_held = state.is_held,
                                 .held_by = state.holder.comm,
                                 .held_begin = state.holder.begin,
                                 .held_end = state.holder.end};
    trails[stream].push(state.done, ended);
    return ended;
}

void RankState::blame_moving(CommId comm, SimTime time) {
    const auto dimension = static_cast<std::size_t>(set->communications[comm].dimension);
    record.split.exposed_communication[dimension] += time;
    record.communications[comm.value()].exposed += time;
}

/// Time before `comm` could begin, with nothing of this rank moving: where its group spans stages,
/// that is waiting for another stage.
void RankState::blame_waiting(CommId comm, SimTime time) {
    if (spans_stages(set->communications[comm])) {
        record.split.bubble += time;
    } else {
        blame_moving(comm, time);
    }
}

/// [from, until) was spent waiting for `transfer`. Time in which an earlier transfer moved that
/// held it up (the one it depended on, and those before it on its stream) is that one's.
void RankState::blame(const FinishedTransfer& transfer, SimTime from, SimTime until) {
    CommId last = transfer.comm;
    SimTime cursor = std::clamp(transfer.begin, from, until);
    blame_moving(last, until - cursor);
    const auto cover = [&](CommId comm, SimTime begin, SimTime end) {
        if (end <= from || begin >= cursor) {
            return;
        }
        const SimTime ended = std::min(end, cursor);
        blame_waiting(last, cursor - ended);
        cursor = std::clamp(begin, from, ended);
        blame_moving(comm, ended - cursor);
        last = comm;
    };
    if (transfer.is_held) {
        cover(transfer.held_by, transfer.held_begin, transfer.held_end);
    }
    const TransferTrail& trail = trails[transfer.stream];
    for (std::uint32_t i = 0; i < TransferTrail::kSize && cursor > from; ++i) {
        if (const auto before = trail.back(i)) {
            cover(before->comm, before->begin, before->end);
        }
    }
    blame_waiting(last, cursor - from);
}

void RankState::account_gap(std::uint32_t number, SimTime now) {
    if (now <= compute_free) {
        return;
    }
    std::optional<FinishedTransfer> cause = last_transfer(instruction(number));
    if (const auto of_host = host.cause(number); of_host && (!cause || of_host->end > cause->end)) {
        cause = of_host;
    }
    SimTime blamed_until = compute_free;
    if (cause && cause->end > compute_free) {
        blamed_until = std::min(cause->end, now);
        blame(*cause, compute_free, blamed_until);
    }
    record.split.host += now - blamed_until;
    compute_free = now;
}

void RankState::account_tail(SimTime now) {
    if (now <= compute_free) {
        return;
    }
    std::optional<FinishedTransfer> cause;
    for (const TransferTrail& trail : trails) {
        const auto last = trail.last();
        if (last && (!cause || last->end > cause->end)) {
            cause = last;
        }
    }
    if (cause && cause->end > compute_free) {
        blame(*cause, compute_free, cause->end);
        compute_free = cause->end;
    }
    record.split.host += now - compute_free;
    compute_free = now;
}

void RankState::account_kernel(const Instruction& done, SimTime start, SimTime end) {
    SimTime& part = done.work == Work::Optimizer ? record.split.optimizer : record.split.compute;
    part += end - start;
    record.kernel_time += end - start;
    compute_free = end;
}

void RankState::account_transfer_on_compute(const FinishedTransfer& transfer, SimTime arrived) {
    blame(transfer, arrived, transfer.end);
    compute_free = transfer.end;
}

void RankState::note(std::uint32_t number, SimTime start, SimTime begin, SimTime end) {
    std::uint64_t one = kFnvBasis;
    mix(one, number);
    mix(one, static_cast<std::uint64_t>((start - record.start).ps()));
    mix(one, static_cast<std::uint64_t>((begin - record.start).ps()));
    mix(one, static_cast<std::uint64_t>((end - record.start).ps()));
    hash += one;  // a sum: what ends at one instant may be noted in any order
    if (records_slices) {
        record.slices.push_back(
            {.instruction = InstructionId(number), .start = start, .begin = begin, .end = end});
    }
}

}  // namespace orrery
