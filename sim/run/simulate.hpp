// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/diagnostic.hpp"
#include "engine/run_record.hpp"
#include "report/result.hpp"
#include "scenario/scenario.hpp"
#include "strategies/build_programs.hpp"

#include <functional>

namespace orrery {

struct SimulateOptions {
    bool unfolded = false;
    RecordLevel record = RecordLevel::None;
    std::function<bool(double)> progress;  ///< share done; false stops the run
};

/// Everything about one run.
struct Simulation {
    BuiltPrograms built;
    RunRecord record;
    Result result;  ///< empty where record.is_stopped
};

/// The one entry that commands, viewer, planner and tests share. Start reading here.
/// Requires: the scenario came from the scenario reader, so that every rule holds.
/// Errors: a schedule's order, read from a file, that this plan cannot run.
[[nodiscard]] Expected<Simulation> simulate(const Scenario& scenario,
                                            const SimulateOptions& options);

}  // namespace orrery
