// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/ids.hpp"
#include "cluster/cluster.hpp"
#include "program/program.hpp"
#include "program/rank_groups.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace orrery {

/// Ranks that behave alike: same Program, and alike partners over alike links in every group.
struct RankClass {
    ProgramId program;
    std::int64_t count = 0;
    RankId representative;  ///< the lowest rank of the class
};

/// Communicators that behave alike.
struct GroupClass {
    GroupKind kind = GroupKind::Tensor;
    GroupPlacement placement;
    std::int64_t count = 0;          ///< how many alike groups there are
    std::vector<ClassId> classes{};  ///< distinct classes among the members of one group, ascending
    std::vector<std::int64_t> members{};  ///< how many members of one group each class has
};

/// The quotient of the job by its symmetry. The classes are an equitable partition: all ranks of a
/// class are in groups of the same GroupClass for every kind, and have partners of the same class,
/// over the same kind of link, at every other stage. So one representative of a class is simulated,
/// exactly.
struct FoldedRanks {
    IdVector<ClassId, RankClass> classes;
    IdVector<GroupId, GroupClass> groups;
    std::vector<std::array<GroupId, kNumGroupKinds>> group_of_class;  ///< [class][kind]
    std::vector<std::vector<ClassId>>
        peers;  ///< [class][stage]: class of the pipeline group's rank
    std::vector<std::vector<LinkKind>> peer_links;  ///< [class][stage]
    std::vector<ClassId> class_of_rank;
};

/// Refines {(Program)} until it is equitable; `unfolded` makes every rank its own class instead.
/// Complexity: O(ranks · kinds) a round; a round for each split that spreads.
[[nodiscard]] FoldedRanks fold_ranks(const RankGroups& groups, const ProgramSet& programs,
                                     const Cluster& cluster, bool unfolded);

}  // namespace orrery
