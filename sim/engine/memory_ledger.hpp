// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/run_record.hpp"
#include "program/program.hpp"

#include <cstdint>
#include <vector>

namespace orrery {

/// Follows one rank's allocations through a step. What happens at one instant is applied in the
/// order in which the host issued it, so that the result does not depend on the order of events.
class MemoryLedger {
  public:
    /// Starts with the persistent tensors of `program`, which must outlive the ledger.
    explicit MemoryLedger(const Program& program);

    /// Forgets the peak and the events of the step before; what is alive stays.
    void begin_step(SimTime now, bool records_events);

    /// Requires: `now` is not before the last call's.
    void apply(SimTime now, std::uint32_t instruction, bool is_allocation);

    /// The record of the step so far.
    [[nodiscard]] MemoryRecord finish_step();

  private:
    struct Pending {
        std::uint32_t instruction = 0;
        bool is_allocation = true;
    };

    void flush();
    void allocate(std::uint32_t list);
    void free(std::uint32_t list);
    void note_peak();

    const Program* program_;
    std::vector<std::int64_t> alive_;  ///< instances by TensorId
    std::array<std::int64_t, kNumMemoryCategories> bytes_{};
    std::int64_t total_ = 0;
    SimTime pending_time_;
    std::vector<Pending> pending_;
    bool is_at_peak_ = false;  ///< total_ is the peak, and its tensors are not noted yet
    bool records_events_ = false;
    MemoryRecord record_;
};

}  // namespace orrery
