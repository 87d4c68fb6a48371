// SPDX-License-Identifier: Apache-2.0
#include "plan/rank_mesh.hpp"

#include "tests/catch.hpp"

#include <algorithm>
#include <array>
#include <random>
#include <set>

namespace orrery {
namespace {

Plan plan_of(std::int64_t tensor, std::int64_t context, std::int64_t data, std::int64_t pipeline) {
    Plan plan;
    plan.tensor = tensor;
    plan.context = context;
    plan.data = data;
    plan.pipeline = pipeline;
    return plan;
}

std::vector<std::uint32_t> values(const std::vector<RankId>& ranks) {
    std::vector<std::uint32_t> out;
    for (const RankId rank : ranks) {
        out.push_back(rank.value());
    }
    return out;
}

constexpr std::array<GroupKind, kNumGroupKinds> kKinds{GroupKind::Tensor,    GroupKind::Context,
                                                       GroupKind::Data,      GroupKind::Pipeline,
                                                       GroupKind::Embedding, GroupKind::World};

// Megatron-LM core/parallel_state.py, order tp-cp-ep-dp-pp.
TEST_CASE("rank of (tp i, cp j, dp k, pp l) is i + tp(j + cp(k + dp l))") {
    const std::int64_t tp = 4, cp = 2, dp = 3, pp = 5;
    const RankMesh mesh(plan_of(tp, cp, dp, pp));
    REQUIRE(mesh.world_size() == tp * cp * dp * pp);
    for (std::int64_t l = 0; l < pp; ++l) {
        for (std::int64_t k = 0; k < dp; ++k) {
            for (std::int64_t j = 0; j < cp; ++j) {
                for (std::int64_t i = 0; i < tp; ++i) {
                    REQUIRE(static_cast<std::int64_t>(mesh.rank({i, j, k, l}).value()) ==
                            i + tp * (j + cp * (k + dp * l)));
                }
            }
        }
    }
}

// Megatron-LM core/parallel_state.py's own example: 16 GPUs, tensor 2, pipeline 4.
TEST_CASE("groups of 16 GPUs with tensor 2 and pipeline 4 are those Megatron documents") {
    const RankMesh mesh(plan_of(2, 1, 2, 4));
    CHECK(values(mesh.group(GroupKind::Tensor, RankId(5U))) == std::vector<std::uint32_t>{4, 5});
    CHECK(values(mesh.group(GroupKind::Data, RankId(5U))) == std::vector<std::uint32_t>{5, 7});
    CHECK(values(mesh.group(GroupKind::Pipeline, RankId(9U))) ==
          std::vector<std::uint32_t>{1, 5, 9, 13});
    CHECK(values(mesh.group(GroupKind::Embedding, RankId(13U))) ==
          std::vector<std::uint32_t>{1, 13});
    CHECK(values(mesh.group(GroupKind::Embedding, RankId(9U))) == std::vector<std::uint32_t>{9});
    CHECK(mesh.group(GroupKind::World, RankId(3U)).size() == 16);
}

TEST_CASE("another rank order changes strides and nothing else") {
    Plan plan = plan_of(2, 1, 4, 2);
    plan.rank_order = {Axis::Tensor, Axis::Pipeline, Axis::Expert, Axis::Data, Axis::Context};
    const RankMesh mesh(plan);
    CHECK(mesh.rank({1, 0, 0, 0}).value() == 1);
    CHECK(mesh.rank({0, 0, 0, 1}).value() == 2);
    CHECK(mesh.rank({0, 0, 1, 0}).value() == 4);
}

TEST_CASE("data × context is the group that dense gradients reduce over") {
    const RankMesh mesh(plan_of(2, 3, 4, 2));
    const auto group = mesh.group(GroupKind::Data, RankId(0U));
    CHECK(group.size() == 12);
    CHECK(values(group) == std::vector<std::uint32_t>{0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22});
}

TEST_CASE("coordinates and ranks are a bijection and every kind of group partitions the ranks") {
    std::mt19937 random(7);
    const auto draw = [&] { return 1 + static_cast<std::int64_t>(random() % 4); };
    for (int round = 0; round < 60; ++round) {
        Plan plan = plan_of(draw(), draw(), draw(), draw());
        std::shuffle(plan.rank_order.begin(), plan.rank_order.end(), random);
        const RankMesh mesh(plan);
        for (const GroupKind kind : kKinds) {
            std::set<RankId> seen;
            for (std::uint32_t r = 0; r < mesh.world_size(); ++r) {
                REQUIRE(mesh.rank(mesh.coordinates(RankId(r))) == RankId(r));
                const auto group = mesh.group(kind, RankId(r));
                REQUIRE(std::ranges::count(group, RankId(r)) == 1);
                if (group.front() == RankId(r)) {
                    for (const RankId member : group) {
                        REQUIRE(seen.insert(member).second);
                        REQUIRE(mesh.group(kind, member) == group);
                    }
                }
            }
            REQUIRE(static_cast<std::int64_t>(seen.size()) == mesh.world_size());
        }
    }
}

}  // namespace
}  // namespace orrery
