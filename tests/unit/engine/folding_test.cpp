// SPDX-License-Identifier: Apache-2.0
#include "tests/catch.hpp"
#include "tests/unit/engine/toy.hpp"

#include <set>

using namespace orrery;  // NOLINT(google-build-using-namespace)

namespace {

ProgramSet empty_programs(std::int64_t stages) {
    ProgramSet set;
    for (std::int64_t s = 0; s < stages; ++s) {
        Program program;
        program.stage = s;
        set.program_of_stage.push_back(set.programs.push_back(program));
    }
    return set;
}

FoldedRanks fold(const Plan& plan, bool unfolded = false) {
    const RankMesh mesh(plan);
    return fold_ranks(list_rank_groups(mesh), empty_programs(plan.pipeline),
                      toy::cluster(mesh.world_size(), 0), unfolded);
}

}  // namespace

TEST_CASE("where every node looks alike there is one class a stage") {
    Plan plan;
    plan.tensor = 8;
    plan.pipeline = 4;
    plan.data = 16;
    const FoldedRanks folded = fold(plan);
    REQUIRE(folded.classes.size() == 4);
    for (const RankClass& entry : folded.classes) {
        CHECK(entry.count == 128);
    }
    CHECK(folded.peers[0].size() == 4);
    CHECK(folded.peer_links[0][1] == LinkKind::Nic);
}

TEST_CASE("a stage that straddles a node border splits into classes by the links its ranks see") {
    // tensor 2, data 3, pipeline 4 on nodes of 8: stage 1 = ranks 6 … 11 lies on two nodes.
    Plan plan;
    plan.tensor = 2;
    plan.data = 3;
    plan.pipeline = 4;
    const FoldedRanks folded = fold(plan);
    CHECK(folded.classes.size() > 4);
    // Ranks 0 and 1 reach stage 1 over NVLink (ranks 6, 7), ranks 2 … 5 over the NIC (8 … 11).
    CHECK(folded.class_of_rank[0] == folded.class_of_rank[1]);
    CHECK(folded.class_of_rank[0] != folded.class_of_rank[2]);
    CHECK(folded.peer_links[folded.class_of_rank[0].value()][1] == LinkKind::Nvlink);
    CHECK(folded.peer_links[folded.class_of_rank[2].value()][1] == LinkKind::Nic);
}

TEST_CASE("classes are an equitable partition: every rank of a class sees the same group classes") {
    for (const std::int64_t data : {1, 2, 3, 5, 6}) {
        Plan plan;
        plan.tensor = 2;
        plan.data = data;
        plan.pipeline = 3;
        const RankMesh mesh(plan);
        const FoldedRanks folded = fold(plan);
        for (const GroupKind kind : {GroupKind::Tensor, GroupKind::Data, GroupKind::Pipeline,
                                     GroupKind::Embedding, GroupKind::World}) {
            for (std::uint32_t r = 0; r < static_cast<std::uint32_t>(mesh.world_size()); ++r) {
                std::set<ClassId> seen;
                for (const RankId member : mesh.group(kind, RankId(r))) {
                    seen.insert(folded.class_of_rank[member.value()]);
                }
                const ClassId own = folded.class_of_rank[r];
                const GroupId group =
                    folded.group_of_class[own.value()][static_cast<std::size_t>(kind)];
                const auto& classes = folded.groups[group].classes;
                CHECK(std::set<ClassId>(classes.begin(), classes.end()) == seen);
            }
        }
    }
}

TEST_CASE("unfolded, every rank is its own class and group") {
    Plan plan;
    plan.tensor = 2;
    plan.data = 4;
    const FoldedRanks folded = fold(plan, true);
    CHECK(folded.classes.size() == 8);
    for (const GroupClass& group : folded.groups) {
        CHECK(group.count == 1);
    }
}
