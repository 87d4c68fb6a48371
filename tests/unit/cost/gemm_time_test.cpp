// SPDX-License-Identifier: Apache-2.0
#include "cost/gemm_time.hpp"

#include "tests/catch.hpp"

#include <cmath>

using namespace orrery;  // NOLINT(google-build-using-namespace)

namespace {

const Ceilings kCeilings{FlopPerSecond(1e15), BytesPerSecond(2e12)};

GemmFit sum_fit() {
    return {.t0 = Seconds(3e-6),
            .flop_efficiency = 0.5,
            .byte_efficiency = 0.8,
            .q = 1.0,
            .sigma = 0.1};
}

/// A GPU whose products all take 1.25 times the closed form, measured on a grid of powers of 2.
GpuProfile measured_gpu() {
    GpuProfile gpu;
    gpu.hbm_bandwidth = kCeilings.hbm;
    gpu.sms = 100;
    gpu.peak[Dtype::Bf16] = kCeilings.peak;
    gpu.gemm[Dtype::Bf16] = sum_fit();
    gpu.layout_factor = {1.0, 1.02, 0.98};
    gpu.accumulate_factor = 1.07;
    gpu.sustained = 1.1;
    for (std::int64_t m = 512; m <= 4096; m *= 2) {
        for (std::int64_t n = 512; n <= 4096; n *= 2) {
            for (std::int64_t k = 512; k <= 4096; k *= 2) {
                const GemmKernel shape{.m = m, .n = n, .k = k};
                gpu.gemm_table.push_back(
                    {shape, gemm_closed_form(sum_fit(), kCeilings, shape) * 1.25});
            }
        }
    }
    return gpu;
}

}  // namespace

TEST_CASE("the closed form adds compute and memory at q = 1 and takes the larger as q grows") {
    // 1024³ in bf16: 2·2^30 FLOP over 0.5e15 = 4.294967 µs; 3·2^21 bytes over 1.6e12 = 3.932160 µs.
    const GemmKernel kernel{.m = 1024, .n = 1024, .k = 1024};
    GemmFit fit = sum_fit();
    CHECK(gemm_closed_form(fit, kCeilings, kernel).si() * 1e6 ==
          Approx(3.0 + 4.294967296 + 3.93216));
    fit.q = 2.0;
    CHECK(gemm_closed_form(fit, kCeilings, kernel).si() * 1e6 ==
          Approx(3.0 + std::hypot(4.294967296, 3.93216)));
    fit.q = 200.0;
    CHECK(gemm_closed_form(fit, kCeilings, kernel).si() * 1e6 ==
          Approx(3.0 + 4.294967296).epsilon(0.01));
}

TEST_CASE("a batch shares one start and pads each matrix to whole tiles") {
    const GemmKernel one{.m = 1024, .n = 1024, .k = 1024};
    GemmKernel many = one;
    many.batch = 8;
    const double single = gemm_closed_form(sum_fit(), kCeilings, one).si() - 3e-6;
    CHECK(gemm_closed_form(sum_fit(), kCeilings, many).si() == Approx(3e-6 + 8.0 * single));
    // 65 rows take two tiles of 64: 128/65 of the compute, the bytes as they are.
    const GemmKernel ragged{.m = 65, .n = 64, .k = 4096, .batch = 100};
    const double compute = 100 * 2.0 * 65 * 64 * 4096 / 0.5e15 * 128 / 65;
    const double bytes = 100 * 2.0 * (65 * 4096 + 64 * 4096 + 65 * 64) / 1.6e12;
    CHECK(gemm_closed_form(sum_fit(), kCeilings, ragged).si() == Approx(3e-6 + compute + bytes));
}

TEST_CASE("a shape of the table takes its measured time") {
    const GpuProfile gpu = measured_gpu();
    const KernelTime time = GemmTimes(gpu).time({.m = 512, .n = 1024, .k = 2048});
    CHECK(time.source == TimeSource::Measured);
    CHECK(time.time.si() ==
          Approx(1.25 *
                 gemm_closed_form(sum_fit(), kCeilings, {.m = 512, .n = 1024, .k = 2048}).si()));
    CHECK(time.sigma > 0.0);
}

TEST_CASE("between measured shapes the efficiency is interpolated") {
    const GemmKernel between{.m = 768, .n = 1536, .k = 768};
    const KernelTime time = GemmTimes(measured_gpu()).time(between);
    CHECK(time.source == TimeSource::Interpolated);
    CHECK(time.time.si() == Approx(1.25 * gemm_closed_form(sum_fit(), kCeilings, between).si()));
}

TEST_CASE("beyond the table the closed form stands alone") {
    const GemmKernel beyond{.m = 256, .n = 1024, .k = 1024};
    const KernelTime time = GemmTimes(measured_gpu()).time(beyond);
    CHECK(time.source == TimeSource::Roofline);
    CHECK(time.time.si() == Approx(gemm_closed_form(sum_fit(), kCeilings, beyond).si()));
    CHECK(time.sigma == 0.1);
}

TEST_CASE(
    "a gradient's layout and accumulation multiply the measured time and make it an estimate") {
    const GemmTimes times(measured_gpu());
    GemmKernel kernel{.m = 1024, .n = 1024, .k = 1024};
    const double forward = times.time(kernel).time.si();
    kernel.layout = GemmLayout::NN;
    CHECK(times.time(kernel).time.si() == Approx(1.02 * forward));
    CHECK(times.time(kernel).source == TimeSource::Interpolated);
    kernel.layout = GemmLayout::NT;
    kernel.accumulate = true;
    CHECK(times.time(kernel).time.si() == Approx(0.98 * 1.07 * forward));
    CHECK(times.time(kernel).sigma > times.time({.m = 1024, .n = 1024, .k = 1024}).sigma);
}

TEST_CASE("products of 20 GFLOP and more run at the sustained clock") {
    // 2048³: 17.2 GFLOP, 4096 × 2048²: 34.4 GFLOP.
    const GemmTimes times(measured_gpu());
    const GemmKernel below{.m = 2048, .n = 2048, .k = 2048};
    const GemmKernel above{.m = 4096, .n = 2048, .k = 2048};
    CHECK(times.time(below).time.si() ==
          Approx(1.25 * gemm_closed_form(sum_fit(), kCeilings, below).si()));
    CHECK(times.time(above).time.si() ==
          Approx(1.1 * 1.25 * gemm_closed_form(sum_fit(), kCeilings, above).si()));
    CHECK(times.time(above).source == TimeSource::Measured);
}

TEST_CASE("fp16 runs as bf16; a format without a fit borrows bf16's and is less sure") {
    GpuProfile gpu = measured_gpu();
    gpu.peak[Dtype::Fp8] = FlopPerSecond(2e15);
    const GemmTimes times(gpu);
    const GemmKernel half{.m = 1024, .n = 1024, .k = 1024, .dtype = Dtype::Fp16};
    CHECK(times.time(half).source == TimeSource::Measured);
    const GemmKernel mxfp8{.m = 4096, .n = 4096, .k = 4096, .dtype = Dtype::Mxfp8};
    CHECK(times.time(mxfp8).source == TimeSource::Roofline);
    CHECK(times.time(mxfp8).sigma > 0.1);
    CHECK(times.time(mxfp8).time < times.time({.m = 4096, .n = 4096, .k = 4096}).time);
}

TEST_CASE("ragged neighbours do not speak for a shape of whole tiles") {
    GpuProfile gpu = measured_gpu();
    for (const GemmPoint& point : measured_gpu().gemm_table) {
        GemmPoint ragged = point;
        ragged.shape.m += 1;
        ragged.time = point.time * 3.0;
        gpu.gemm_table.push_back(ragged);
    }
    const GemmKernel between{.m = 768, .n = 1536, .k = 768};
    CHECK(GemmTimes(gpu).time(between).time.si() ==
          Approx(1.25 * gemm_closed_form(sum_fit(), kCeilings, between).si()));
}

TEST_CASE("whole waves: a tile more than the SMs costs a wave of the cheaper tiles") {
    CHECK(wave_factor({.m = 128, .n = 108 * 256, .k = 64}, 108) == Approx(1.0));
    // 109 tiles of 128×256 would take 2 waves (216/109); 218 of 128×128 take 3, each 1.1 slower.
    CHECK(wave_factor({.m = 128, .n = 109 * 256, .k = 64}, 108) == Approx(1.1 * 324.0 / 218.0));
    // 2048 × 2048: 128 tiles of 128×256, two waves; the smaller tiles' 256 take three.
    CHECK(wave_factor({.m = 2048, .n = 2048, .k = 64}, 108) == Approx(1.1 * 324.0 / 256.0));
    CHECK(wave_factor({.m = 64, .n = 64, .k = 64}, 108) == Approx(4.0));
}

TEST_CASE("against whole waves, interpolation follows the saw-tooth that tiles make") {
    // Times proportional to waves: rows at 1, 2 and 4 waves of 128×256 tiles on 100 SMs.
    GpuProfile gpu = measured_gpu();
    gpu.gemm[Dtype::Bf16].whole_waves = true;
    gpu.gemm_table.clear();
    const auto waved = [&](const GemmKernel& shape) {
        return gemm_closed_form(sum_fit(), kCeilings, shape) * wave_factor(shape, gpu.sms);
    };
    for (std::int64_t m = 1024; m <= 8192; m *= 2) {
        for (std::int64_t n = 1024; n <= 8192; n *= 2) {
            for (std::int64_t k = 1024; k <= 4096; k *= 2) {
                gpu.gemm_table.push_back(
                    {{.m = m, .n = n, .k = k}, waved({.m = m, .n = n, .k = k})});
            }
        }
    }
    gpu.sustained = 1.0;
    const GemmKernel asked{.m = 2688, .n = 3840, .k = 1536};
    CHECK(GemmTimes(gpu).time(asked).time.si() == Approx(waved(asked).si()));
}
