// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/rank_state.hpp"
#include "engine/rendezvous.hpp"

#include <vector>

namespace orrery {

/// Who waits for whom when no event is left: a line for every stream that cannot go on, of the
/// lowest classes first, at most 32.
[[nodiscard]] Deadlock explain_deadlock(const ProgramSet& set, const FoldedRanks& folded,
                                        const std::vector<RankState>& ranks,
                                        const Rendezvous& rendezvous, SimTime now);

}  // namespace orrery
