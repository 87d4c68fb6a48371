// SPDX-License-Identifier: Apache-2.0
#include "cost/memory_bound_time.hpp"

#include "tests/catch.hpp"

using namespace orrery;  // NOLINT(google-build-using-namespace)

namespace {

GpuProfile gpu() {
    GpuProfile profile;
    profile.origin = "measured";
    profile.hbm_bandwidth = BytesPerSecond(2e12);
    profile.l2 = Bytes(40e6);
    profile.cache_boost = 1.25;
    profile.memory_bound["rms_norm/forward/fused"] = {Seconds(2e-6), 0.8, 0.05};
    profile.memory_bound["*/forward/fused"] = {Seconds(2e-6), 0.7, 0.2};
    profile.memory_bound["*/forward/eager"] = {Seconds(2e-6), 0.5, 0.3};
    return profile;
}

MemoryBoundKernel kernel(const char* op, double read, double written) {
    return {.op = op, .read = Bytes(read), .written = Bytes(written)};
}

}  // namespace

TEST_CASE("a memory-bound kernel moves its bytes at its share of HBM") {
    // 160 MB at 0.8 of 2 TB/s: 100 µs, and 2 µs to start.
    const KernelTime time = memory_bound_time(gpu(), "fused", kernel("rms_norm", 80e6, 80e6));
    CHECK(time.time.si() == Approx(102e-6));
    CHECK(time.source == TimeSource::Interpolated);
    CHECK(time.sigma == 0.05);
}

TEST_CASE("bytes under half the L2 move faster by the cache's factor") {
    CHECK(memory_bound_time(gpu(), "fused", kernel("rms_norm", 8e6, 8e6)).time.si() ==
          Approx(2e-6 + 16e6 / (0.8 * 1.25 * 2e12)));
    CHECK(memory_bound_time(gpu(), "fused", kernel("rms_norm", 10e6, 10e6)).time.si() ==
          Approx(2e-6 + 20e6 / (0.8 * 2e12)));
}

TEST_CASE("an op without a fit of its own takes the default of its implementation") {
    const KernelTime fused = memory_bound_time(gpu(), "fused", kernel("dropout", 70e6, 70e6));
    CHECK(fused.time.si() == Approx(102e-6));
    CHECK(fused.source == TimeSource::Roofline);
    const KernelTime eager = memory_bound_time(gpu(), "eager", kernel("dropout", 50e6, 50e6));
    CHECK(eager.time.si() == Approx(102e-6));
    // No eager norm was measured: the norm's fused kernel is nearer than an eager kernel of another
    // op.
    CHECK(memory_bound_time(gpu(), "eager", kernel("rms_norm", 80e6, 80e6)).source ==
          TimeSource::Roofline);
}

TEST_CASE("shares scaled from a sibling are not called measured") {
    GpuProfile scaled = gpu();
    scaled.origin = "datasheet, kernels scaled from h100-sxm";
    CHECK(memory_bound_time(scaled, "fused", kernel("rms_norm", 80e6, 80e6)).source ==
          TimeSource::Roofline);
}
