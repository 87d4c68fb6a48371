// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/ids.hpp"
#include "base/sim_time.hpp"
#include "engine/folding.hpp"
#include "program/program.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace orrery {

/// A rank's step, without overlap: the parts sum to the step to the picosecond.
struct TimeSplit {
    SimTime compute;  ///< forward, backward, recomputation kernels
    std::array<SimTime, kNumDimensions>
        exposed_communication{};  ///< the compute stream waited for it
    SimTime bubble;  ///< the compute stream waited for another stage to arrive, or was done before
                     ///< the step
    SimTime optimizer;  ///< gradient norm, optimizer step, zeroing
    SimTime host;       ///< the compute stream waited for the host to issue

    [[nodiscard]] SimTime total() const;
};

/// One instruction as it ran.
struct Slice {
    InstructionId instruction;
    SimTime start;  ///< communications: when the rank arrived (the transfer may have begun later)
    SimTime begin;  ///< communications: when all partners had arrived; kernels: = start
    SimTime end;
};

/// Use of one communication by one rank in a step.
struct CommunicationUse {
    std::int64_t calls = 0;
    SimTime time;     ///< begin to end, summed over calls
    SimTime exposed;  ///< of that, what the compute stream waited for
};

struct MemoryEvent {
    SimTime time;
    std::uint32_t list = 0;  ///< row of Program::tensor_lists
    bool is_allocation = true;
};

/// The memory ledger of one rank over a step.
struct MemoryRecord {
    std::int64_t peak_bytes = 0;
    SimTime peak_time;
    std::array<std::int64_t, kNumMemoryCategories> at_peak{};
    std::vector<std::int64_t> tensors_at_peak;  ///< instances alive, by TensorId
    std::int64_t end_bytes = 0;                 ///< after the step; equals the start's
    std::vector<MemoryEvent> events;            ///< from RecordLevel::Memory on
};

struct ClassRecord {
    TimeSplit split;
    SimTime start;  ///< of this class's recorded step
    SimTime end;
    SimTime kernel_time;  ///< kernels of the compute stream, as they ran
    MemoryRecord memory;
    std::vector<CommunicationUse> communications;       ///< by CommId
    std::vector<Slice> slices;                          ///< in order of completion
    std::array<std::int64_t, 3> kernel_ps_by_source{};  ///< TimeSource → kernel picoseconds, alone
};

/// Who waits for whom when nothing can go on.
struct Deadlock {
    SimTime time;
    std::vector<std::string>
        waits;  ///< "rank 8 (stage 1): Recv … waits for a Send of rank 0 (stage 0)"
};

/// All that the engine found out. Class data is by ClassId of `ranks`.
struct RunRecord {
    FoldedRanks ranks;
    SimTime step_start;  ///< of the recorded step
    SimTime step_time;
    std::int64_t steps_simulated = 0;
    bool is_steady = true;     ///< the last two steps took the same time (or steps do not overlap)
    std::uint64_t events = 0;  ///< of one step
    std::uint64_t fingerprint =
        0;  ///< of every class's instruction times, weighted so that folding keeps it
    std::vector<ClassRecord> classes;
    std::optional<Deadlock> deadlock;
    bool is_stopped = false;  ///< the caller stopped it: figures are of an unfinished step
};

/// What is kept of every class besides sums: nothing, memory events, or these and all slices.
enum class RecordLevel : std::uint8_t { None, Memory, Classes };

}  // namespace orrery
