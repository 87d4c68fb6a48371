// SPDX-License-Identifier: Apache-2.0
#include "engine/folding.hpp"

#include "base/assert.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace orrery {
namespace {

using Colours = std::vector<std::uint32_t>;

/// All groups of one kind, each once.
struct Groups {
    std::vector<std::vector<RankId>> members;
    std::vector<GroupPlacement> placement;
    std::vector<std::uint32_t> of_rank;
};

Groups place_groups(const RankGroups& all, const Cluster& cluster, GroupKind kind) {
    Groups groups;
    groups.members = all.groups[static_cast<std::size_t>(kind)];
    groups.of_rank.resize(all.stage_of_rank.size());
    for (std::size_t g = 0; g < groups.members.size(); ++g) {
        groups.placement.push_back(place_group(cluster, groups.members[g]));
        for (const RankId member : groups.members[g]) {
            groups.of_rank[member.value()] = static_cast<std::uint32_t>(g);
        }
    }
    return groups;
}

/// What a group looks like from inside, given colours: its placement and the colours of its
/// members. A pipeline's members are told apart by stage and by the links between them, others only
/// counted.
std::vector<std::int64_t> signature(const Groups& groups, std::size_t index, GroupKind kind,
                                    const Colours& colours, const Cluster& cluster) {
    const GroupPlacement& at = groups.placement[index];
    std::vector<std::int64_t> key{at.size, at.domains, at.nodes, at.most_per_domain,
                                  at.least_per_domain};
    const std::vector<RankId>& members = groups.members[index];
    const auto start = static_cast<std::ptrdiff_t>(key.size());
    for (const RankId member : members) {
        key.push_back(colours[member.value()]);
    }
    if (kind != GroupKind::Pipeline) {
        std::sort(key.begin() + start, key.end());
        return key;
    }
    for (std::size_t a = 0; a < members.size(); ++a) {
        const RankId next = members[(a + 1) % members.size()];
        key.push_back(static_cast<std::int64_t>(link_between(cluster, members[a], next)));
    }
    return key;
}

/// One round: the new colour of a rank is its old one with the signatures of all its groups.
Colours refine(const std::array<Groups, kNumGroupKinds>& groups, const Colours& colours,
               const Cluster& cluster) {
    std::vector<std::vector<std::uint32_t>> keys(colours.size());
    for (std::size_t r = 0; r < colours.size(); ++r) {
        keys[r].reserve(kNumGroupKinds + 1);
        keys[r].push_back(colours[r]);
    }
    for (std::size_t k = 0; k < kNumGroupKinds; ++k) {
        std::map<std::vector<std::int64_t>, std::uint32_t> ids;
        std::vector<std::uint32_t> id_of_group(groups[k].members.size());
        for (std::size_t g = 0; g < id_of_group.size(); ++g) {
            auto key = signature(groups[k], g, static_cast<GroupKind>(k), colours, cluster);
            id_of_group[g] = ids.try_emplace(std::move(key), static_cast<std::uint32_t>(ids.size()))
                                 .first->second;
        }
        for (std::size_t r = 0; r < colours.size(); ++r) {
            keys[r].push_back(id_of_group[groups[k].of_rank[r]]);
        }
    }
    std::map<std::vector<std::uint32_t>, std::uint32_t> ids;
    Colours refined(colours.size());
    for (std::size_t r = 0; r < colours.size(); ++r) {
        refined[r] = ids.try_emplace(std::move(keys[r]), static_cast<std::uint32_t>(ids.size()))
                         .first->second;
    }
    return refined;
}

std::size_t num_colours(const Colours& colours) {
    return colours.empty() ? 0 : std::size_t{*std::max_element(colours.begin(), colours.end())} + 1;
}

Colours colour_ranks(const RankGroups& all, const ProgramSet& programs, const Cluster& cluster,
                     const std::array<Groups, kNumGroupKinds>& groups, bool unfolded) {
    Colours colours(all.stage_of_rank.size());
    for (std::size_t r = 0; r < colours.size(); ++r) {
        const auto stage = static_cast<std::size_t>(all.stage_of_rank[r]);
        colours[r] =
            unfolded ? static_cast<std::uint32_t>(r) : programs.program_of_stage[stage].value();
    }
    while (!unfolded) {
        Colours refined = refine(groups, colours, cluster);
        const bool is_stable = num_colours(refined) == num_colours(colours);
        colours = std::move(refined);
        if (is_stable) {
            break;
        }
    }
    return colours;
}

/// Classes numbered by their lowest rank, whatever colours they had.
void make_classes(FoldedRanks& folded, const Colours& colours, const RankGroups& all,
                  const ProgramSet& programs) {
    std::vector<ClassId> class_of_colour(colours.size());
    std::vector<bool> is_seen(colours.size(), false);
    folded.class_of_rank.resize(colours.size());
    for (std::size_t r = 0; r < colours.size(); ++r) {
        const std::size_t colour = colours[r];
        if (!is_seen[colour]) {
            is_seen[colour] = true;
            const auto stage = static_cast<std::size_t>(all.stage_of_rank[r]);
            class_of_colour[colour] =
                folded.classes.push_back({.program = programs.program_of_stage[stage],
                                          .count = 0,
                                          .representative = RankId(r)});
        }
        folded.class_of_rank[r] = class_of_colour[colour];
        ++folded.classes[class_of_colour[colour]].count;
    }
}

void make_groups(FoldedRanks& folded, const Groups& groups, GroupKind kind) {
    using Members = std::map<ClassId, std::int64_t>;
    std::map<std::pair<GroupPlacement, Members>, GroupId> ids;
    for (std::size_t g = 0; g < groups.members.size(); ++g) {
        Members members;
        for (const RankId member : groups.members[g]) {
            ++members[folded.class_of_rank[member.value()]];
        }
        auto key = std::make_pair(groups.placement[g], members);
        auto place = ids.find(key);
        if (place == ids.end()) {
            GroupClass group{.kind = kind, .placement = groups.placement[g]};
            for (const auto& [member, count] : members) {
                group.classes.push_back(member);
                group.members.push_back(count);
            }
            place = ids.emplace(std::move(key), folded.groups.push_back(std::move(group))).first;
            for (const auto& entry : members) {
                folded.group_of_class[entry.first.value()][static_cast<std::size_t>(kind)] =
                    place->second;
            }
        }
        ++folded.groups[place->second].count;
    }
}

void make_peers(FoldedRanks& folded, const Groups& pipelines, const Cluster& cluster) {
    folded.peers.resize(folded.classes.size());
    folded.peer_links.resize(folded.classes.size());
    for (std::size_t c = 0; c < folded.classes.size(); ++c) {
        const RankId self = folded.classes[ClassId(c)].representative;
        for (const RankId peer : pipelines.members[pipelines.of_rank[self.value()]]) {
            folded.peers[c].push_back(folded.class_of_rank[peer.value()]);
            folded.peer_links[c].push_back(link_between(cluster, self, peer));
        }
    }
}

}  // namespace

FoldedRanks fold_ranks(const RankGroups& all, const ProgramSet& programs, const Cluster& cluster,
                       bool unfolded) {
    ORRERY_ASSERT(!programs.program_of_stage.empty(), "a job has at least one stage");
    std::array<Groups, kNumGroupKinds> groups;
    for (std::size_t k = 0; k < kNumGroupKinds; ++k) {
        groups[k] = place_groups(all, cluster, static_cast<GroupKind>(k));
    }
    FoldedRanks folded;
    make_classes(folded, colour_ranks(all, programs, cluster, groups, unfolded), all, programs);
    folded.group_of_class.resize(folded.classes.size());
    for (std::size_t k = 0; k < kNumGroupKinds; ++k) {
        make_groups(folded, groups[k], static_cast<GroupKind>(k));
    }
    make_peers(folded, groups[static_cast<std::size_t>(GroupKind::Pipeline)], cluster);
    return folded;
}

}  // namespace orrery
