// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/ids.hpp"
#include "base/sim_time.hpp"
#include "engine/program_layout.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace orrery {

/// A communication that has ended, as far as it matters to who waited for it. Where it could only
/// start after another one, `held_by` is that other one.
struct FinishedTransfer {
    CommId comm;
    SimTime begin;
    SimTime end;
    std::uint8_t stream = 0;
    bool is_held = false;
    CommId held_by;
    SimTime held_begin;
    SimTime held_end;
};

/// One rank's host thread: issues instructions in program order, each for its launch cost, and
/// stops only at a HostWait or where a launch queue is full. Between two stops the time of every
/// issue follows from prefix sums, so nothing is stored for an instruction.
class HostThread {
  public:
    /// The host goes on from `now` at the first instruction.
    void begin_step(SimTime now);

    /// Instructions before this number have been issued (their issue may still lie ahead in time).
    [[nodiscard]] std::uint32_t next() const { return next_; }

    /// When the host finished issuing `instruction`. Requires: instruction < next().
    [[nodiscard]] SimTime issue_time(const ProgramLayout& layout, std::uint32_t instruction) const;

    /// What the host had waited for, if the stop before `instruction` was a HostWait for a
    /// communication.
    [[nodiscard]] std::optional<FinishedTransfer> cause(std::uint32_t instruction) const;

    /// Issues from next() up to `end` without a stop.
    void issue_until(std::uint32_t end) { next_ = end; }

    /// Goes on after a stop that ended at `now`.
    void resume(const ProgramLayout& layout, SimTime now, std::optional<FinishedTransfer> cause);

    /// Forgets runs of instructions before `instruction`, which nobody will ask about again.
    void forget_before(std::uint32_t instruction);

    /// When the host stops, having issued everything before next().
    [[nodiscard]] SimTime time(const ProgramLayout& layout) const;

    [[nodiscard]] std::size_t num_runs() const { return runs_.size(); }

  private:
    /// Instructions from `first` on are issued back to back, from `start` on.
    struct Run {
        std::uint32_t first = 0;
        std::int32_t cause = -1;  ///< into causes_; −1: none
        SimTime start;
    };

    [[nodiscard]] const Run& run_of(std::uint32_t instruction) const;

    std::vector<Run> runs_;
    std::vector<FinishedTransfer> causes_;  ///< of this step: a few HostWaits
    std::uint32_t next_ = 0;
    mutable std::size_t last_run_ = 0;  ///< where the last search ended: the next one starts there
};

}  // namespace orrery
