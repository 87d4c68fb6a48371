// SPDX-License-Identifier: Apache-2.0
#include "program/rank_groups.hpp"

#include <utility>

namespace orrery {
namespace {

std::vector<std::vector<RankId>> groups_of_kind(const RankMesh& mesh, GroupKind kind) {
    std::vector<std::vector<RankId>> groups;
    std::vector<bool> is_listed(static_cast<std::size_t>(mesh.world_size()), false);
    for (std::size_t r = 0; r < is_listed.size(); ++r) {
        if (is_listed[r]) {
            continue;
        }
        std::vector<RankId> members = mesh.group(kind, RankId(r));
        for (const RankId member : members) {
            is_listed[member.value()] = true;
        }
        groups.push_back(std::move(members));
    }
    return groups;
}

}  // namespace

RankGroups list_rank_groups(const RankMesh& mesh) {
    RankGroups all;
    all.stage_of_rank.resize(static_cast<std::size_t>(mesh.world_size()));
    for (std::size_t r = 0; r < all.stage_of_rank.size(); ++r) {
        all.stage_of_rank[r] = mesh.coordinates(RankId(r)).pipeline;
    }
    for (std::size_t k = 0; k < kNumGroupKinds; ++k) {
        all.groups[k] = groups_of_kind(mesh, static_cast<GroupKind>(k));
    }
    return all;
}

}  // namespace orrery
