// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/ids.hpp"
#include "plan/rank_mesh.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace orrery {

/// Who communicates with whom: the stage of every rank, and all groups of every kind.
struct RankGroups {
    std::vector<std::int64_t> stage_of_rank;  ///< pipeline coordinate, by RankId
    /// [kind]: the groups, each once, members in coordinate order (a pipeline's by stage).
    std::array<std::vector<std::vector<RankId>>, kNumGroupKinds> groups;
};

[[nodiscard]] RankGroups list_rank_groups(const RankMesh& mesh);

}  // namespace orrery
