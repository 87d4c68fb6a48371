// SPDX-License-Identifier: Apache-2.0
#include "engine/engine.hpp"

#include "base/assert.hpp"
#include "engine/deadlock.hpp"
#include "engine/event_queue.hpp"
#include "engine/rank_state.hpp"
#include "engine/rendezvous.hpp"
#include "engine/step_control.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <memory>
#include <utility>

namespace orrery {
namespace {

constexpr auto kComputeStream = static_cast<std::size_t>(StreamKind::Compute);

/// Picoseconds times a slow-down: kernels of minutes do not fit in 64 bits.
__extension__ using Wide = __int128;

/// Time that `alone_ps` of work takes at a slow-down of `slowdown` / 65536, rounded up.
std::int64_t slowed(std::int64_t alone_ps, std::int64_t slowdown) {
    return static_cast<std::int64_t>((Wide{alone_ps} * slowdown + Contention::kOne - 1) /
                                     Contention::kOne);
}

/// A meeting on the network.
struct InFlight {
    Meeting meeting;
    SimTime begin;
    std::int64_t sms = 0;
};

/// One run. Everything that happens, happens in a member function named after it.
class Engine {
  public:
    Engine(const ProgramSet& set, const CostTable& costs, FoldedRanks ranks, Network& network,
           const Contention& contention, const EngineOptions& options);

    RunRecord run();

  private:
    void begin_step(ClassId id);
    void end_step(ClassId id);
    bool handle_next();
    void poll(ClassId id);
    void advance_stream(ClassId id, std::size_t stream);
    void advance_host(RankState& rank);
    void start_kernel(ClassId id, std::uint32_t number);
    void end_kernel(ClassId id);
    [[nodiscard]] std::int64_t slowdown_of(const RankState& rank) const;
    void queue_kernel_end(ClassId id);
    void rerate_kernel(ClassId id);
    void begin_transfer(const Meeting& meeting);
    void end_transfer(const InFlight& transfer);
    void end_transfer_at(Participant at, const InFlight& transfer);
    void complete_head(RankState& rank, std::size_t stream);
    [[nodiscard]] bool report_progress();

    template <typename Visit>
    void for_each_participant(const Meeting& meeting, Visit visit) {
        if (!meeting.group) {
            visit(meeting.first);
            visit(meeting.second);
            return;
        }
        for (const ClassId member : record_.ranks.groups[*meeting.group].classes) {
            visit(Participant{member, meeting.first.stream});
        }
    }

    const ProgramSet& set_;
    const CostTable& costs_;
    Network& network_;
    const Contention& contention_;
    const EngineOptions& options_;
    RunRecord record_;
    std::vector<ProgramLayout> layouts_;
    std::vector<RankState> ranks_;
    std::unique_ptr<Rendezvous> rendezvous_;
    EventQueue queue_;
    std::vector<InFlight> in_flight_;  ///< by ticket
    std::vector<Network::Ticket> ended_;
    StepControl steps_;
    SimTime now_;
    std::uint64_t events_ = 0;
    std::uint64_t completed_ = 0;
    std::uint64_t expected_ = 0;
};

Engine::Engine(const ProgramSet& set, const CostTable& costs, FoldedRanks ranks, Network& network,
               const Contention& contention, const EngineOptions& options)
    : set_(set),
      costs_(costs),
      network_(network),
      contention_(contention),
      options_(options),
      steps_(set.crosses_step_border, options.max_steps, ranks.classes.size()) {
    record_.ranks = std::move(ranks);
    layouts_.reserve(set.programs.size());
    for (const Program& program : set.programs) {
        layouts_.push_back(lay_out(program, set.launch_costs, options.launch_queue));
    }
    ranks_.reserve(record_.ranks.classes.size());
    for (const RankClass& entry : record_.ranks.classes) {
        ranks_.emplace_back(set, layouts_[entry.program.value()], entry.count);
        expected_ += layouts_[entry.program.value()].size();
    }
    rendezvous_ = std::make_unique<Rendezvous>(set, record_.ranks);
}

void Engine::begin_step(ClassId id) {
    RankState& rank = ranks_[id.value()];
    rank.begin_step(now_, options_.record);
    advance_host(rank);
    rank.poll_mask = (1U << kNumStreams) - 1U;
}

void Engine::end_step(ClassId id) {
    RankState& rank = ranks_[id.value()];
    rank.account_tail(now_);
    rank.record.end = now_;
    rank.record.memory = rank.ledger.finish_step();
    std::sort(rank.record.slices.begin(), rank.record.slices.end(),
              [](const Slice& a, const Slice& b) {
                  return a.end != b.end ? a.end < b.end : a.instruction < b.instruction;
              });
    rank.finished.push_back(std::move(rank.record));
    rank.hashes.push_back(rank.hash);
    steps_.finish(rank.step, now_, now_ - rank.finished.back().start);
    if (steps_.may_begin(rank.step + 1)) {
        begin_step(id);
        poll(id);
    }
}

/// Looks at every stream whose head may be able to start, until nothing more can.
void Engine::poll(ClassId id) {
    RankState& rank = ranks_[id.value()];
    while (rank.poll_mask != 0) {
        const auto stream = static_cast<std::size_t>(std::countr_zero(rank.poll_mask));
        rank.poll_mask &= rank.poll_mask - 1U;
        advance_stream(id, stream);
    }
    const bool is_host_done = rank.host.next() >= rank.layout->size();
    if (rank.open_instructions == 0 && is_host_done &&
        static_cast<std::int64_t>(rank.finished.size()) < rank.step) {
        end_step(id);
    }
}

void Engine::advance_stream(ClassId id, std::size_t stream) {
    RankState& rank = ranks_[id.value()];
    StreamState& state = rank.streams[stream];
    const std::vector<std::uint32_t>& order = rank.layout->order[stream];
    while (!state.is_busy && !state.is_delayed && state.done < order.size()) {
        const std::uint32_t number = order[state.done];
        const Instruction& head = rank.instruction(number);
        if (rank.host.next() <= number) {
            state.waits_for_host = true;
            return;
        }
        if (const auto open = rank.first_open_wait(head)) {
            state.waits_for_stream = true;
            state.blocked_on = *open;
            return;
        }
        const bool is_memory =
            head.kind == InstructionKind::Allocate || head.kind == InstructionKind::Free;
        const SimTime issued = is_memory ? now_ : rank.host.issue_time(*rank.layout, number);
        if (issued > now_) {
            state.is_delayed = true;
            queue_.push(issued, EventKind::StreamStart, id, static_cast<std::uint32_t>(stream));
            return;
        }
        if (stream == kComputeStream) {
            rank.account_gap(number, now_);
        }
        if (is_memory) {
            rank.ledger.apply(now_, number, head.kind == InstructionKind::Allocate);
            complete_head(rank, stream);
            continue;
        }
        if (head.kind == InstructionKind::Kernel) {
            state.is_busy = true;
            state.arrived = now_;
            start_kernel(id, number);
            return;
        }
        rank.arrive(stream, head, now_);
        if (const auto meeting = rendezvous_->arrive(id, head)) {
            begin_transfer(*meeting);
        }
        return;
    }
}

/// Lets the host issue as far as it can; streams that waited for it are looked at again.
void Engine::advance_host(RankState& rank) {
    const ProgramLayout& layout = *rank.layout;
    const bool was_stopped = std::exchange(rank.host_is_stopped, false);
    bool is_resumed = was_stopped;
    while (rank.next_stop < layout.stops.size()) {
        const std::uint32_t number = layout.stops[rank.next_stop];
        rank.host.issue_until(number);
        const Instruction& stop = rank.instruction(number);
        const bool is_wait = stop.kind == InstructionKind::HostWait;
        std::optional<Dependency> open;
        if (is_wait) {
            open = rank.first_open_wait(stop);
        } else if (const Dependency gate{layout.gate[number] - 1,
                                         static_cast<std::uint8_t>(stop.stream)};
                   !rank.is_done(gate)) {
            open = gate;
        }
        if (open) {
            rank.host_is_stopped = true;
            rank.host_blocked_on = *open;
            break;
        }
        if (is_resumed) {
            rank.host.resume(layout, now_, is_wait ? rank.last_transfer(stop) : std::nullopt);
            is_resumed = false;
        }
        rank.host.issue_until(number + 1);
        ++rank.next_stop;
    }
    if (!rank.host_is_stopped) {
        rank.host.issue_until(layout.size());
    }
    for (std::size_t s = 0; s < kNumStreams; ++s) {
        if (std::exchange(rank.streams[s].waits_for_host, false)) {
            rank.poll_mask |= 1U << s;
        }
    }
    if (rank.host.num_runs() > rank.max_host_runs) {
        std::uint32_t oldest = rank.host.next();
        for (std::size_t s = 0; s < kNumStreams; ++s) {
            if (rank.streams[s].done < layout.order[s].size()) {
                oldest = std::min(oldest, layout.order[s][rank.streams[s].done]);
            }
        }
        rank.host.forget_before(oldest);
        // Twice what is still needed: the cost of forgetting is spread over as many runs again.
        rank.max_host_runs = std::max(kMinHostRuns, 2 * rank.host.num_runs());
    }
}

void Engine::complete_head(RankState& rank, std::size_t stream) {
    StreamState& state = rank.streams[stream];
    ++state.done;
    state.is_busy = false;
    --rank.open_instructions;
    ++completed_;
    for (std::size_t s = 0; s < kNumStreams; ++s) {
        StreamState& waiting = rank.streams[s];
        if (waiting.waits_for_stream && waiting.blocked_on.stream == stream &&
            state.done > waiting.blocked_on.position) {
            waiting.waits_for_stream = false;
            rank.poll_mask |= 1U << s;
        }
    }
    if (rank.host_is_stopped && rank.host_blocked_on.stream == stream &&
        state.done > rank.host_blocked_on.position) {
        advance_host(rank);
    }
}

void Engine::start_kernel(ClassId id, std::uint32_t number) {
    RankState& rank = ranks_[id.value()];
    const CostId cost(rank.instruction(number).payload);
    const CostRow& row = costs_[cost];
    RunningKernel& kernel = rank.kernel;
    kernel.instruction = number;
    kernel.cost = cost;
    kernel.remaining_ps = row.duration.ps();
    kernel.updated = now_;
    kernel.slowdown = slowdown_of(rank);
    kernel.is_running = true;
    rank.record.kernel_ps_by_source[static_cast<std::size_t>(row.source)] += row.duration.ps();
    queue_kernel_end(id);
}

/// Of the kernel that `rank` runs or is about to run.
std::int64_t Engine::slowdown_of(const RankState& rank) const {
    return rank.sms_taken > 0
               ? contention_.slowdown(costs_[rank.kernel.cost].is_memory_bound, rank.sms_taken)
               : Contention::kOne;
}

/// Queues the end of the running kernel as it runs now; an end queued before becomes stale.
void Engine::queue_kernel_end(ClassId id) {
    RunningKernel& kernel = ranks_[id.value()].kernel;
    const std::int64_t takes = slowed(kernel.remaining_ps, kernel.slowdown);
    queue_.push(now_ + SimTime::from_ps(takes), EventKind::KernelEnd, id, ++kernel.version);
}

/// Collectives beside a running kernel have come or gone: its end moves.
void Engine::rerate_kernel(ClassId id) {
    RankState& rank = ranks_[id.value()];
    RunningKernel& kernel = rank.kernel;
    if (!kernel.is_running) {
        return;
    }
    const std::int64_t slowdown = slowdown_of(rank);
    if (slowdown == kernel.slowdown) {
        return;
    }
    const auto done = static_cast<std::int64_t>(Wide{(now_ - kernel.updated).ps()} *
                                                Contention::kOne / kernel.slowdown);
    kernel.remaining_ps = std::max<std::int64_t>(0, kernel.remaining_ps - done);
    kernel.updated = now_;
    kernel.slowdown = slowdown;
    queue_kernel_end(id);
}

void Engine::end_kernel(ClassId id) {
    RankState& rank = ranks_[id.value()];
    RunningKernel& kernel = rank.kernel;
    kernel.is_running = false;
    const SimTime start = rank.streams[kComputeStream].arrived;
    rank.account_kernel(rank.instruction(kernel.instruction), start, now_);
    rank.note(kernel.instruction, start, start, now_);
    complete_head(rank, kComputeStream);
    rank.poll_mask |= 1U << kComputeStream;
    poll(id);
}

void Engine::begin_transfer(const Meeting& meeting) {
    const Network::Ticket ticket = network_.start(now_, meeting.request);
    if (in_flight_.size() <= ticket) {
        in_flight_.resize(std::size_t{ticket} + 1);
    }
    const std::int64_t sms = network_.sms(meeting.request);
    in_flight_[ticket] = {.meeting = meeting, .begin = now_, .sms = sms};
    for_each_participant(meeting, [&](Participant at) {
        RankState& rank = ranks_[at.rank_class.value()];
        rank.streams[static_cast<std::size_t>(at.stream)].begin = now_;
        rank.sms_taken += sms;
        rerate_kernel(at.rank_class);
    });
}

void Engine::end_transfer(const InFlight& transfer) {
    for_each_participant(transfer.meeting, [&](Participant at) { end_transfer_at(at, transfer); });
    for_each_participant(transfer.meeting, [&](Participant at) { poll(at.rank_class); });
}

void Engine::end_transfer_at(Participant at, const InFlight& transfer) {
    RankState& rank = ranks_[at.rank_class.value()];
    const auto stream = static_cast<std::size_t>(at.stream);
    const StreamState& state = rank.streams[stream];
    const std::uint32_t number = rank.layout->order[stream][state.done];
    // A Send and its Recv are two rows of the ledger: each rank keeps to its own.
    const CommId comm(rank.instruction(number).payload);
    rank.sms_taken -= transfer.sms;
    rerate_kernel(at.rank_class);
    CommunicationUse& use = rank.record.communications[comm.value()];
    ++use.calls;
    use.time += now_ - transfer.begin;
    const FinishedTransfer finished = rank.finish_transfer(stream, comm, transfer.begin, now_);
    rank.note(number, state.arrived, transfer.begin, now_);
    if (stream == kComputeStream) {
        rank.account_transfer_on_compute(finished, state.arrived);
    }
    complete_head(rank, stream);
    rank.poll_mask |= 1U << stream;
}

/// Handles the earliest event or end of transfer. Returns false when there is none left.
bool Engine::handle_next() {
    const std::optional<SimTime> network_time = network_.next_completion();
    const bool has_event = !queue_.empty();
    if (!has_event && !network_time) {
        return false;
    }
    ++events_;
    const bool is_event_first =
        has_event &&
        (!network_time || queue_.top().time < *network_time ||
         (queue_.top().time == *network_time && queue_.top().kind == EventKind::KernelEnd));
    if (!is_event_first) {
        now_ = *network_time;
        ended_.clear();
        network_.complete(now_, ended_);
        std::vector<InFlight> transfers;
        transfers.reserve(ended_.size());
        for (const Network::Ticket ticket : ended_) {
            transfers.push_back(in_flight_[ticket]);
        }
        for (const InFlight& transfer : transfers) {
            end_transfer(transfer);
        }
        return true;
    }
    const Event event = queue_.top();
    queue_.pop();
    now_ = event.time;
    RankState& rank = ranks_[event.rank_class.value()];
    if (event.kind == EventKind::StreamStart) {
        rank.streams[event.detail].is_delayed = false;
        rank.poll_mask |= 1U << event.detail;
        poll(event.rank_class);
    } else if (event.detail == rank.kernel.version && rank.kernel.is_running) {
        end_kernel(event.rank_class);
    }
    return true;
}

bool Engine::report_progress() {
    const double steps = static_cast<double>(steps_.expected_steps());
    const double total = std::max(1.0, static_cast<double>(expected_) * steps);
    return options_.progress(std::min(1.0, static_cast<double>(completed_) / total));
}

RunRecord Engine::run() {
    for (std::size_t c = 0; c < ranks_.size(); ++c) {
        begin_step(ClassId(c));
    }
    for (std::size_t c = 0; c < ranks_.size(); ++c) {
        poll(ClassId(c));
    }
    constexpr std::uint64_t kProgressEvery = 1U << 16U;
    while (!steps_.is_over() && handle_next()) {
        if (options_.progress && events_ % kProgressEvery == 0 && !report_progress()) {
            record_.is_stopped = true;
            break;
        }
    }
    if (!steps_.is_over() && !record_.is_stopped) {
        record_.deadlock = explain_deadlock(set_, record_.ranks, ranks_, *rendezvous_, now_);
    }
    record_.steps_simulated = std::max<std::int64_t>(1, steps_.last());
    record_.events = events_ / static_cast<std::uint64_t>(record_.steps_simulated);
    steps_.conclude(record_, ranks_, now_);
    return std::move(record_);
}

}  // namespace

RunRecord run_programs(const ProgramSet& programs, const CostTable& costs, FoldedRanks ranks,
                       Network& network, const Contention& contention,
                       const EngineOptions& options) {
    return Engine(programs, costs, std::move(ranks), network, contention, options).run();
}

}  // namespace orrery
