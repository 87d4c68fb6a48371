// SPDX-License-Identifier: Apache-2.0
#include "report/ledger.hpp"

#include <algorithm>
#include <compare>
#include <map>

namespace orrery {

namespace {

struct Key {
    Dimension dimension = Dimension::Tensor;
    CollectiveKind collective = CollectiveKind::AllReduce;
    NameId name;
    std::int64_t group_size = 1;
    std::int64_t bytes = 0;
    LinkKind link = LinkKind::Local;

    friend auto operator<=>(const Key&, const Key&) = default;
};

struct Sums {
    std::int64_t ranks = 0;
    std::size_t last_class = 0;  ///< + 1; so that a class's ranks count once
    WideSum calls = 0;
    WideSum time = 0;
    WideSum exposed = 0;
};

Key key_of(const FoldedRanks& ranks, std::size_t class_index, const Communication& comm) {
    Key key{comm.dimension, comm.kind, comm.name, 2, comm.bytes, LinkKind::Local};
    if (comm.kind == CollectiveKind::SendRecv) {
        key.link = ranks.peer_links[class_index][static_cast<std::size_t>(comm.peer_stage)];
    } else {
        const GroupId group =
            ranks.group_of_class[class_index][static_cast<std::size_t>(comm.group)];
        key.group_size = ranks.groups[group].placement.size;
        key.link = slowest_link(ranks.groups[group].placement);
    }
    return key;
}

LedgerRow row_of(const Key& key, const Sums& sums, const ProgramSet& programs) {
    LedgerRow row;
    row.dimension = key.dimension;
    row.collective = key.collective;
    row.name = programs.names[key.name];
    row.group_size = key.group_size;
    row.bytes_per_call = key.bytes;
    row.calls_per_step = static_cast<double>(sums.calls) / static_cast<double>(sums.ranks);
    row.link = key.link;
    row.time = mean_seconds(sums.time, sums.ranks);
    row.exposed = mean_seconds(sums.exposed, sums.ranks);
    row.ranks = sums.ranks;
    return row;
}

}  // namespace

Seconds mean_seconds(WideSum picoseconds, std::int64_t count) {
    return Seconds(static_cast<double>(picoseconds) / static_cast<double>(count) * 1e-12);
}

CommunicationLedger communication_ledger(const ProgramSet& programs, const RunRecord& record) {
    std::map<Key, Sums> sums_of;
    CommunicationLedger ledger;
    for (std::size_t c = 0; c < record.classes.size(); ++c) {
        const std::int64_t count = record.ranks.classes.items()[c].count;
        const std::vector<CommunicationUse>& uses = record.classes[c].communications;
        for (std::size_t i = 0; i < uses.size(); ++i) {
            if (uses[i].calls == 0) {
                continue;
            }
            const Key key = key_of(record.ranks, c, programs.communications[CommId(i)]);
            if (key.group_size < 2) {
                continue;
            }
            Sums& sums = sums_of[key];
            if (sums.last_class != c + 1) {
                sums.last_class = c + 1;
                sums.ranks += count;
            }
            sums.calls += WideSum{uses[i].calls} * count;
            sums.time += WideSum{uses[i].time.ps()} * count;
            sums.exposed += WideSum{uses[i].exposed.ps()} * count;
        }
    }
    for (const auto& [key, sums] : sums_of) {
        ledger.rows.push_back(row_of(key, sums, programs));
        ledger.time += sums.time;
        ledger.exposed += sums.exposed;
    }
    std::stable_sort(ledger.rows.begin(), ledger.rows.end(),
                     [](const LedgerRow& a, const LedgerRow& b) { return a.time > b.time; });
    return ledger;
}

}  // namespace orrery
