// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cost/contention.hpp"
#include "cost/cost_table.hpp"
#include "engine/folding.hpp"
#include "engine/run_record.hpp"
#include "network/network.hpp"
#include "program/program.hpp"

#include <cstdint>
#include <functional>

namespace orrery {

struct EngineOptions {
    RecordLevel record = RecordLevel::None;
    /// Instructions that the host may issue ahead of the oldest unfinished one of a stream.
    std::int64_t launch_queue = 1024;
    std::int64_t max_steps = 4;
    /// Called about ten times a second with the share done (0…1); returns false to stop the run.
    std::function<bool(double)> progress;
};

/// Runs Programs to the end of a step, event by event, and knows no strategy.
/// Order of events: (time, phase, sequence); all starts and ends of one instant are gathered before
/// the next. Kernels slow down while collectives hold SMs of their GPU. Deterministic; two engines
/// can run side by side. A Program that cannot finish gives RunRecord::deadlock, never a hang.
/// Requires: check_programs(programs) is empty.
[[nodiscard]] RunRecord run_programs(const ProgramSet& programs, const CostTable& costs,
                                     FoldedRanks ranks, Network& network,
                                     const Contention& contention, const EngineOptions& options);

}  // namespace orrery
