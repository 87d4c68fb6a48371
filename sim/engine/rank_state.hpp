// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cost/cost_table.hpp"
#include "engine/host_thread.hpp"
#include "engine/memory_ledger.hpp"
#include "engine/program_layout.hpp"
#include "engine/run_record.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace orrery {

/// One in-order stream of a rank. `done` instructions are complete; the next one is its head.
struct StreamState {
    std::uint32_t done = 0;
    bool is_busy = false;  ///< the head runs, or has arrived at its partners
    bool waits_for_stream = false;
    bool waits_for_host = false;  ///< the head is not issued yet, and the host has stopped
    bool is_delayed = false;      ///< the head is issued later: a StreamStart is queued
    Dependency blocked_on;
    SimTime arrived;          ///< when the head started (communications: arrived)
    SimTime begin;            ///< when its transfer began
    FinishedTransfer holder;  ///< the transfer that the head had to wait for
    bool is_held = false;     ///< there was one
};

/// The last few transfers of a stream: enough to know what a waiting kernel waited for.
class TransferTrail {
  public:
    void push(std::uint32_t position, const FinishedTransfer& transfer) {
        entries_[count_ % kSize] = {position, transfer};
        ++count_;
    }

    [[nodiscard]] std::optional<FinishedTransfer> find(std::uint32_t position) const;

    [[nodiscard]] std::optional<FinishedTransfer> last() const { return back(0); }

    /// The one `count` before the last, if it is still remembered.
    [[nodiscard]] std::optional<FinishedTransfer> back(std::uint32_t count) const;

    static constexpr std::uint32_t kSize = 8;

    void clear() { count_ = 0; }

  private:
    struct Entry {
        std::uint32_t position = 0;
        FinishedTransfer transfer;
    };

    std::array<Entry, kSize> entries_{};
    std::uint32_t count_ = 0;
};

inline constexpr std::size_t kMinHostRuns = 64;

/// The kernel at the head of the compute stream.
struct RunningKernel {
    std::uint32_t instruction = 0;
    CostId cost;
    std::int64_t remaining_ps = 0;  ///< of its time alone
    SimTime updated;                ///< when `remaining_ps` was right
    std::int64_t slowdown = 0;      ///< in 1/65536; see Contention
    std::uint32_t version = 0;      ///< of its end event
    bool is_running = false;
};

/// Everything about one rank (the representative of its class) while it runs.
class RankState {
  public:
    RankState(const ProgramSet& set, const ProgramLayout& layout, std::int64_t count);

    /// Requires: every instruction of the step before is done.
    void begin_step(SimTime now, RecordLevel level);

    [[nodiscard]] const Instruction& instruction(std::uint32_t number) const {
        return layout->program->instructions[number];
    }

    [[nodiscard]] bool is_done(Dependency dependency) const {
        return streams[dependency.stream].done > dependency.position;
    }

    /// The first of an instruction's waits that is not done yet.
    [[nodiscard]] std::optional<Dependency> first_open_wait(const Instruction& waiting) const;

    /// The transfer among an instruction's waits that ended last.
    [[nodiscard]] std::optional<FinishedTransfer> last_transfer(const Instruction& waiting) const;

    /// The head of `stream` arrives at its partners: remembers which transfer it had to wait for.
    void arrive(std::size_t stream, const Instruction& head, SimTime now);

    /// The head of `stream` has ended: remembers it for those who wait for it.
    FinishedTransfer finish_transfer(std::size_t stream, CommId comm, SimTime begin, SimTime now);

    /// Accounts for the time the compute stream stood still before it starts `number` at `now`.
    void account_gap(std::uint32_t number, SimTime now);

    /// Accounts for what follows the last kernel when the rank is done at `now`.
    void account_tail(SimTime now);

    /// Accounts for a kernel or a transfer that ran on the compute stream.
    void account_kernel(const Instruction& kernel, SimTime start, SimTime end);
    void account_transfer_on_compute(const FinishedTransfer& transfer, SimTime arrived);

    /// Adds an instruction's times to the slices and to the fingerprint.
    void note(std::uint32_t number, SimTime start, SimTime begin, SimTime end);

    const ProgramSet* set;
    const ProgramLayout* layout;
    std::int64_t count;  ///< ranks of the class
    std::array<StreamState, kNumStreams> streams;
    std::array<TransferTrail, kNumStreams> trails;
    HostThread host;
    std::size_t next_stop = 0;  ///< into layout->stops
    bool host_is_stopped = false;
    Dependency host_blocked_on;
    std::size_t max_host_runs = kMinHostRuns;  ///< forget old runs of the host when there are more
    std::uint32_t open_instructions = 0;       ///< of streams, not done in this step
    std::uint32_t poll_mask = 0;               ///< streams to look at
    RunningKernel kernel;
    std::int64_t sms_taken = 0;
    SimTime compute_free;  ///< up to here the compute stream's time is accounted for
    MemoryLedger ledger;
    ClassRecord record;
    std::uint64_t hash = 0;
    bool records_slices = false;
    std::int64_t step = 0;              ///< from 1
    std::vector<ClassRecord> finished;  ///< by step − 1
    std::vector<std::uint64_t> hashes;

  private:
    void blame(const FinishedTransfer& transfer, SimTime from, SimTime until);
    void blame_moving(CommId comm, SimTime time);
    void blame_waiting(CommId comm, SimTime time);
};

/// Groups that contain ranks of several stages: waiting for their members is waiting for a stage.
[[nodiscard]] bool spans_stages(const Communication& communication);

}  // namespace orrery
