// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/ids.hpp"
#include "plan/plan.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace orrery {

/// The communicators that Programs name. Each kind partitions the ranks.
enum class GroupKind : std::uint8_t {
    Tensor,  ///< same everything but the tensor coordinate
    Context,
    Data,       ///< data × context: gradients of dense parameters reduce over it
    Pipeline,   ///< one rank of every stage
    Embedding,  ///< first and last stage of one pipeline (a middle stage's rank is alone)
    World
};
inline constexpr std::size_t kNumGroupKinds = 6;

struct MeshCoordinates {
    std::int64_t tensor = 0;
    std::int64_t context = 0;
    std::int64_t data = 0;
    std::int64_t pipeline = 0;

    friend bool operator==(const MeshCoordinates&, const MeshCoordinates&) = default;
};

/// Ranks as a grid tensor × context × data × pipeline, the axis named first in `rank_order`
/// fastest. Source: Megatron-LM core/parallel_state.py (order tp-cp-ep-dp-pp; the dense grid leaves
/// ep out).
class RankMesh {
  public:
    explicit RankMesh(const Plan& plan);

    [[nodiscard]] std::int64_t world_size() const { return world_size_; }

    [[nodiscard]] MeshCoordinates coordinates(RankId rank) const;
    [[nodiscard]] RankId rank(const MeshCoordinates& at) const;

    /// Members of the group of this kind that `rank` belongs to: in coordinate order, rank
    /// included.
    [[nodiscard]] std::vector<RankId> group(GroupKind kind, RankId rank) const;

  private:
    std::array<std::int64_t, 4> degree_{};  ///< tensor, context, data, pipeline
    std::array<std::int64_t, 4> stride_{};
    std::int64_t world_size_ = 1;
};

}  // namespace orrery
