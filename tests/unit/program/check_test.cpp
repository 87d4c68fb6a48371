// SPDX-License-Identifier: Apache-2.0
#include "program/check.hpp"

#include "program/builder.hpp"
#include "tests/catch.hpp"

#include <array>
#include <string>

using namespace orrery;  // NOLINT(google-build-using-namespace)

namespace {

/// Two stages; stage 0 sends `sent` bytes, stage 1 receives `received`.
ProgramSet two_stages(std::int64_t sent, std::int64_t received, std::uint32_t tag) {
    ProgramSetBuilder shared;
    ProgramBuilder first(shared, 0);
    ProgramBuilder second(shared, 1);
    Communication comm{.kind = CollectiveKind::SendRecv,
                       .dimension = Dimension::Pipeline,
                       .group = GroupKind::Pipeline,
                       .bytes = sent,
                       .peer_stage = 1};
    first.send(StreamKind::ForwardSend, shared.communication(comm), 1);
    comm.bytes = received;
    comm.peer_stage = 0;
    second.recv(StreamKind::ForwardRecv, shared.communication(comm), tag);
    ProgramSet set = shared.take();
    set.program_of_stage = {set.programs.push_back(first.take()),
                            set.programs.push_back(second.take())};
    return set;
}

}  // namespace

TEST_CASE("a matched message passes the check") {
    CHECK(check_programs(two_stages(64, 64, 1)).empty());
}

TEST_CASE("bytes sent must be bytes received") {
    const auto faults = check_programs(two_stages(64, 32, 1));
    REQUIRE(faults.size() == 1);
    CHECK(faults[0].find("64 bytes sent, 32 received") != std::string::npos);
}

TEST_CASE("a send without its receive is found, and a receive without its send") {
    CHECK(check_programs(two_stages(64, 64, 2)).size() == 2);
}

TEST_CASE("what is allocated must be freed, and not twice") {
    ProgramSetBuilder shared;
    ProgramBuilder builder(shared, 0);
    const std::array<TensorId, 1> x{builder.tensor("x", MemoryCategory::Activations, 8)};
    const std::array<TensorId, 1> y{builder.tensor("y", MemoryCategory::Activations, 8)};
    builder.allocate(StreamKind::Compute, x);
    builder.allocate(StreamKind::Compute, y);
    builder.free(StreamKind::Compute, y);
    builder.free(StreamKind::Compute, y);
    ProgramSet set = shared.take();
    set.program_of_stage = {set.programs.push_back(builder.take())};
    const auto faults = check_programs(set);
    REQUIRE(faults.size() == 2);
    CHECK(faults[0].find("frees 'y'") != std::string::npos);
    CHECK(faults[1].find("'x'") != std::string::npos);
}

TEST_CASE("stages of the world must call its collectives in the same order") {
    ProgramSetBuilder shared;
    ProgramBuilder first(shared, 0);
    ProgramBuilder second(shared, 1);
    Communication comm;
    comm.group = GroupKind::World;
    comm.bytes = 4;
    first.collective(StreamKind::Data, shared.communication(comm));
    comm.bytes = 8;
    second.collective(StreamKind::Data, shared.communication(comm));
    ProgramSet set = shared.take();
    set.program_of_stage = {set.programs.push_back(first.take()),
                            set.programs.push_back(second.take())};
    CHECK(check_programs(set).size() == 1);
}
