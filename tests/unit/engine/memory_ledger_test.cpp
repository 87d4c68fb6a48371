// SPDX-License-Identifier: Apache-2.0
#include "engine/memory_ledger.hpp"

#include "program/builder.hpp"
#include "tests/catch.hpp"
#include "tests/unit/engine/toy.hpp"

#include <array>

using namespace orrery;  // NOLINT(google-build-using-namespace)
using toy::us;

namespace {

/// Keeps 100 bytes of parameters; allocates x (10), y (20), frees x, allocates z (15), frees y and
/// z.
Program program() {
    ProgramSetBuilder shared;
    ProgramBuilder builder(shared, 0);
    builder.keep(builder.tensor("weights", MemoryCategory::Parameters, 100));
    const std::array<TensorId, 1> x{builder.tensor("x", MemoryCategory::Activations, 10)};
    const std::array<TensorId, 1> y{builder.tensor("y", MemoryCategory::Activations, 20)};
    const std::array<TensorId, 1> z{builder.tensor("z", MemoryCategory::Communication, 15)};
    builder.allocate(StreamKind::Compute, x);
    builder.allocate(StreamKind::Compute, y);
    builder.free(StreamKind::Compute, x);
    builder.allocate(StreamKind::Tensor, z);
    builder.free(StreamKind::Compute, y);
    builder.free(StreamKind::Tensor, z);
    return builder.take();
}

}  // namespace

TEST_CASE("the peak has a time, categories and the tensors that were alive") {
    const Program made = program();
    MemoryLedger ledger(made);
    ledger.begin_step(us(0), true);
    ledger.apply(us(1), 0, true);
    ledger.apply(us(2), 1, true);
    ledger.apply(us(3), 2, false);
    ledger.apply(us(4), 3, true);
    ledger.apply(us(5), 4, false);
    ledger.apply(us(6), 5, false);
    const MemoryRecord record = ledger.finish_step();
    CHECK(record.peak_bytes == 135);
    CHECK(record.peak_time == us(4));
    CHECK(record.at_peak[static_cast<std::size_t>(MemoryCategory::Parameters)] == 100);
    CHECK(record.at_peak[static_cast<std::size_t>(MemoryCategory::Activations)] == 20);
    CHECK(record.at_peak[static_cast<std::size_t>(MemoryCategory::Communication)] == 15);
    CHECK(record.tensors_at_peak == std::vector<std::int64_t>{1, 0, 1, 1});
    CHECK(record.end_bytes == 100);
    CHECK(record.events.size() == 6);
}

TEST_CASE("what happens at one instant counts in the order of issue, whatever came first") {
    const Program made = program();
    MemoryLedger ledger(made);
    ledger.begin_step(us(0), false);
    ledger.apply(us(1), 0, true);
    ledger.apply(us(2), 3, true);   // z, issued after
    ledger.apply(us(2), 2, false);  // x is freed,
    ledger.apply(us(2), 1, true);   // and y was allocated before it
    ledger.apply(us(3), 4, false);
    ledger.apply(us(3), 5, false);
    // 10, then y: 30, x freed: 20, z: 35
    CHECK(ledger.finish_step().peak_bytes == 135);
}
