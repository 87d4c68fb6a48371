// SPDX-License-Identifier: Apache-2.0
#include "plan/rank_mesh.hpp"

#include "base/assert.hpp"

#include <optional>

namespace orrery {

namespace {

constexpr std::size_t kTensor = 0;
constexpr std::size_t kContext = 1;
constexpr std::size_t kData = 2;
constexpr std::size_t kPipeline = 3;

/// Index of an axis in the dense grid; the expert axis has none (its ranks are the data ranks).
std::optional<std::size_t> dense_axis(Axis axis) {
    switch (axis) {
        case Axis::Tensor:
            return kTensor;
        case Axis::Context:
            return kContext;
        case Axis::Data:
            return kData;
        case Axis::Pipeline:
            return kPipeline;
        case Axis::Expert:
            break;
    }
    return std::nullopt;
}

/// Which coordinates vary within a group of this kind, by dense axis.
std::array<bool, 4> varying(GroupKind kind) {
    switch (kind) {
        case GroupKind::Tensor:
            return {true, false, false, false};
        case GroupKind::Context:
            return {false, true, false, false};
        case GroupKind::Data:
            return {false, true, true, false};
        case GroupKind::Pipeline:
        case GroupKind::Embedding:
            return {false, false, false, true};
        case GroupKind::World:
            break;
    }
    return {true, true, true, true};
}

}  // namespace

RankMesh::RankMesh(const Plan& plan)
    : degree_{plan.tensor, plan.context, plan.data, plan.pipeline} {
    std::int64_t stride = 1;
    for (const Axis axis : plan.rank_order) {
        if (const auto i = dense_axis(axis)) {
            ORRERY_ASSERT(stride_[*i] == 0 && degree_[*i] >= 1, "rank_order names each axis once");
            stride_[*i] = stride;
            stride *= degree_[*i];
        }
    }
    world_size_ = stride;
}

MeshCoordinates RankMesh::coordinates(RankId rank) const {
    const auto at = [&](std::size_t axis) {
        return static_cast<std::int64_t>(rank.value()) / stride_[axis] % degree_[axis];
    };
    return {at(kTensor), at(kContext), at(kData), at(kPipeline)};
}

RankId RankMesh::rank(const MeshCoordinates& at) const {
    const std::int64_t rank = at.tensor * stride_[kTensor] + at.context * stride_[kContext] +
                              at.data * stride_[kData] + at.pipeline * stride_[kPipeline];
    return RankId(static_cast<std::size_t>(rank));
}

std::vector<RankId> RankMesh::group(GroupKind kind, RankId rank) const {
    const MeshCoordinates own = coordinates(rank);
    if (kind == GroupKind::Embedding) {
        const std::int64_t last = degree_[kPipeline] - 1;
        if (last == 0 || (own.pipeline != 0 && own.pipeline != last)) {
            return {rank};
        }
        MeshCoordinates first_stage = own;
        MeshCoordinates last_stage = own;
        first_stage.pipeline = 0;
        last_stage.pipeline = last;
        return {this->rank(first_stage), this->rank(last_stage)};
    }
    const std::array<bool, 4> varies = varying(kind);
    const std::array<std::int64_t, 4> fixed{own.tensor, own.context, own.data, own.pipeline};
    std::array<std::int64_t, 4> begin{};
    std::array<std::int64_t, 4> end{};
    for (std::size_t axis = 0; axis < 4; ++axis) {
        begin[axis] = varies[axis] ? 0 : fixed[axis];
        end[axis] = varies[axis] ? degree_[axis] : fixed[axis] + 1;
    }
    std::vector<RankId> members;
    for (std::int64_t l = begin[kPipeline]; l < end[kPipeline]; ++l) {
        for (std::int64_t k = begin[kData]; k < end[kData]; ++k) {
            for (std::int64_t j = begin[kContext]; j < end[kContext]; ++j) {
                for (std::int64_t i = begin[kTensor]; i < end[kTensor]; ++i) {
                    members.push_back(this->rank({i, j, k, l}));
                }
            }
        }
    }
    return members;
}

}  // namespace orrery
