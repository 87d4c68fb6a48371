// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/ids.hpp"
#include "cost/cost_table.hpp"
#include "engine/run_record.hpp"
#include "plan/rank_mesh.hpp"
#include "program/program.hpp"

#include <iosfwd>
#include <vector>

namespace orrery {

/// Chrome's trace JSON (chrome://tracing, ui.perfetto.dev): ranks are processes, streams are
/// threads, memory is a counter, a send and its receive are joined by a flow. Times are
/// microseconds since the step's start, exact to the picosecond. Requires: the record was made with
/// RecordLevel::Classes. `ranks` are the ranks to write; a rank's timeline is that of its class. A
/// message is drawn where both of its ends are among them.
void write_chrome_trace(std::ostream& out, const ProgramSet& programs, const CostTable& costs,
                        const RunRecord& record, const RankMesh& mesh,
                        const std::vector<RankId>& ranks);

}  // namespace orrery
