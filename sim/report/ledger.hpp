// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "report/result.hpp"

#include <cstdint>
#include <vector>

namespace orrery {

/// Exact sums: picoseconds of all ranks together can pass 2^63.
__extension__ using WideSum = __int128;

/// The mean of a sum over `count` ranks, in seconds. Requires: count > 0.
[[nodiscard]] Seconds mean_seconds(WideSum picoseconds, std::int64_t count);

struct CommunicationLedger {
    std::vector<LedgerRow> rows;  ///< longest first
    WideSum time = 0;             ///< picoseconds, over all ranks
    WideSum exposed = 0;
};

/// Who communicated what, over all ranks: one row for each (dimension, collective, name, group
/// size, bytes, link). A group of one rank communicates nothing and has no row.
[[nodiscard]] CommunicationLedger communication_ledger(const ProgramSet& programs,
                                                       const RunRecord& record);

}  // namespace orrery
