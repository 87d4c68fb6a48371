// SPDX-License-Identifier: Apache-2.0
#include "program/builder.hpp"

#include "tests/catch.hpp"

#include <array>

using namespace orrery;  // NOLINT(google-build-using-namespace)

TEST_CASE("waits on the own stream and repeated waits are dropped") {
    ProgramSetBuilder shared;
    ProgramBuilder builder(shared, 0);
    const CommId comm = shared.communication({});
    const InstructionId a = builder.kernel(CostId(0U), shared.name("a"));
    const std::array<InstructionId, 2> twice{a, a};
    const InstructionId gather = builder.collective(StreamKind::Tensor, comm, twice);
    const std::array<InstructionId, 2> both{a, gather};
    builder.kernel(CostId(0U), shared.name("b"), both);
    const Program program = builder.take();
    CHECK(program.instructions[1].num_waits == 1);
    REQUIRE(program.instructions[2].num_waits == 1);
    CHECK(program.waits[program.instructions[2].first_wait] == gather);
}

TEST_CASE("the host's wait keeps waits on the compute stream") {
    ProgramSetBuilder shared;
    ProgramBuilder builder(shared, 0);
    const std::array<InstructionId, 1> waits{builder.kernel(CostId(0U), shared.name("norm"))};
    builder.host_wait(waits);
    CHECK(builder.program().instructions[1].num_waits == 1);
}

TEST_CASE("equal tensors, lists, names and communications are interned once") {
    ProgramSetBuilder shared;
    ProgramBuilder builder(shared, 0);
    const TensorId x = builder.tensor("x", MemoryCategory::Activations, 8);
    CHECK(builder.tensor("x", MemoryCategory::Activations, 8) == x);
    CHECK(builder.tensor("x", MemoryCategory::Activations, 16) != x);
    const std::array<TensorId, 1> list{x};
    builder.allocate(StreamKind::Compute, list);
    builder.free(StreamKind::Compute, list);
    CHECK(builder.program().tensor_lists.size() == 1);
    CHECK(shared.name("x") == shared.name("x"));
    Communication comm;
    comm.bytes = 4;
    CHECK(shared.communication(comm) == shared.communication(comm));
}

TEST_CASE("instructions carry the label that was set") {
    ProgramSetBuilder shared;
    ProgramBuilder builder(shared, 3);
    builder.set_label({.work = Work::Recompute, .microbatch = 5, .layer = 7, .chunk = 1});
    builder.kernel(CostId(2U), shared.name("qkv"));
    const Instruction& made = builder.program().instructions[0];
    CHECK(made.work == Work::Recompute);
    CHECK(made.microbatch == 5);
    CHECK(made.layer == 7);
    CHECK(made.chunk == 1);
    CHECK(builder.program().stage == 3);
}
