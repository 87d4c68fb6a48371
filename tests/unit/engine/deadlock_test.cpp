// SPDX-License-Identifier: Apache-2.0
#include "tests/catch.hpp"
#include "tests/unit/engine/toy.hpp"

#include <array>
#include <string>
#include <vector>

using namespace orrery;  // NOLINT(google-build-using-namespace)

TEST_CASE("two stages that both receive first are a deadlock that names both") {
    ProgramSetBuilder shared;
    std::vector<ProgramBuilder> stages{ProgramBuilder(shared, 0), ProgramBuilder(shared, 1)};
    for (std::size_t s = 0; s < 2; ++s) {
        const CommId comm = shared.communication({.kind = CollectiveKind::SendRecv,
                                                  .dimension = Dimension::Pipeline,
                                                  .group = GroupKind::Pipeline,
                                                  .bytes = 8,
                                                  .peer_stage = s == 0 ? 1 : 0});
        const auto tag = static_cast<std::uint32_t>(s);
        const std::array<InstructionId, 1> got{
            stages[s].recv(StreamKind::ForwardRecv, comm, 1 - tag)};
        stages[s].send(StreamKind::ForwardSend, comm, tag, got);
    }
    toy::Job job;
    job.plan.pipeline = 2;
    job.set = toy::together(shared, stages);
    const RunRecord record = job.run();
    REQUIRE(record.deadlock.has_value());
    std::string all;
    for (const std::string& line : record.deadlock->waits) {
        all += line + "\n";
    }
    CHECK(all.find(
              "rank 0 (stage 0), forward receive: receive from stage 1 waits for a send of rank 1 "
              "(stage 1)") != std::string::npos);
    CHECK(all.find(
              "rank 1 (stage 1), forward receive: receive from stage 0 waits for a send of rank 0 "
              "(stage 0)") != std::string::npos);
}

TEST_CASE("a collective that one stage never joins is a deadlock that names the stage") {
    ProgramSetBuilder shared;
    std::vector<ProgramBuilder> stages{ProgramBuilder(shared, 0), ProgramBuilder(shared, 1)};
    Communication comm;
    comm.group = GroupKind::World;
    comm.name = shared.name("gradient norm");
    stages[0].collective(StreamKind::Data, shared.communication(comm));
    toy::Job job;
    job.plan.pipeline = 2;
    job.set = toy::together(shared, stages);
    const RunRecord record = job.run();
    REQUIRE(record.deadlock.has_value());
    REQUIRE_FALSE(record.deadlock->waits.empty());
    CHECK(record.deadlock->waits[0].find(
              "AllReduce gradient norm waits for rank 1 (stage 1) to join") != std::string::npos);
}
