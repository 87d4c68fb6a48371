// SPDX-License-Identifier: Apache-2.0
#include "cost/cost_table.hpp"

#include "tests/catch.hpp"

using namespace orrery;  // NOLINT(google-build-using-namespace)

namespace {

KernelTimes stream_of_one_tb() {
    GpuProfile gpu;
    gpu.hbm_bandwidth = BytesPerSecond(1e12);
    gpu.memory_bound["*/forward/fused"] = {Seconds(0.0), 1.0, 0.1};
    return {gpu, FrameworkProfile{}};
}

}  // namespace

TEST_CASE("the same kernel is one row, and its duration holds the gap before it") {
    const KernelTimes times = stream_of_one_tb();
    CostTableBuilder builder(times, Seconds(1e-6));
    const MemoryBoundKernel copy{.op = "copy", .read = Bytes(1e6), .written = Bytes(1e6)};
    MemoryBoundKernel larger = copy;
    larger.read = Bytes(3e6);
    const CostId first = builder.add(copy);
    CHECK(builder.add(larger) != first);
    CHECK(builder.add(copy) == first);
    const CostTable table = builder.take();
    REQUIRE(table.size() == 2);
    // 2 MB at 1 TB/s: 2 µs, and 1 µs of gap.
    CHECK(table[first].duration == SimTime::from_ps(3'000'000));
    CHECK(table[first].is_memory_bound);
    CHECK(table[first].flop.si() == 0.0);
}

TEST_CASE("durations round up to a whole picosecond once") {
    const KernelTimes times = stream_of_one_tb();
    CostTableBuilder builder(times, Seconds(0.0));
    const CostId id =
        builder.add(MemoryBoundKernel{.op = "copy", .read = Bytes(1.0), .written = Bytes(0.5)});
    CHECK(builder.take()[id].duration == SimTime::from_ps(2));
}
