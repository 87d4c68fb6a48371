// SPDX-License-Identifier: Apache-2.0
#include "cost/attention_time.hpp"

#include "tests/catch.hpp"

#include <cmath>

using namespace orrery;  // NOLINT(google-build-using-namespace)

namespace {

const FlopPerSecond kPeak(1e15);
constexpr std::int64_t kSms = 128;

AttentionFit fit() {
    return {.t0 = Seconds(10e-6),
            .e_inf = 0.6,
            .s_half = 1024.0,
            .backward_efficiency = 0.8,
            .sigma = 0.1};
}

GpuProfile gpu_with_rows() {
    GpuProfile gpu;
    gpu.sms = kSms;
    gpu.peak[Dtype::Bf16] = kPeak;
    gpu.attention[Dtype::Bf16] = fit();
    for (std::int64_t seq = 1024; seq <= 8192; seq *= 2) {
        for (std::int64_t heads = 8; heads <= 64; heads *= 2) {
            const AttentionKernel shape{.batch = 1, .seq = seq, .heads_q = heads, .heads_kv = 8};
            gpu.attention_table.push_back(
                {shape, attention_closed_form(fit(), kPeak, kSms, shape) * 1.2});
        }
    }
    return gpu;
}

}  // namespace

TEST_CASE("attention's closed form: half of e_inf at s_half, whole waves of blocks") {
    // b 1, heads 32, s 1024, d 128, causal: 4·32·(1024²/2)·128 FLOP; 256 blocks = 2 waves of 128
    // SMs.
    const AttentionKernel kernel{.batch = 1, .seq = 1024, .heads_q = 32, .heads_kv = 32};
    const double flop = 4.0 * 32 * (1024.0 * 1024.0 / 2.0) * 128;
    CHECK(attention_closed_form(fit(), kPeak, kSms, kernel).si() ==
          Approx(10e-6 + flop / (0.3 * 1e15)));
    // 33 heads: 264 blocks take 3 waves, 384 slots.
    const AttentionKernel ragged{.batch = 1, .seq = 1024, .heads_q = 33, .heads_kv = 33};
    CHECK(attention_closed_form(fit(), kPeak, kSms, ragged).si() ==
          Approx(10e-6 + flop * 33 / 32 / (0.3 * 264.0 / 384.0 * 1e15)));
}

TEST_CASE("attention backward counts twice the forward and executes 5/4 of it at its efficiency") {
    AttentionKernel kernel{.batch = 1, .seq = 4096, .heads_q = 32, .heads_kv = 32};
    const double forward = attention_closed_form(fit(), kPeak, kSms, kernel).si() - 10e-6;
    kernel.pass = KernelPass::Backward;
    CHECK(attention_closed_form(fit(), kPeak, kSms, kernel).si() ==
          Approx(10e-6 + 2.0 * 1.25 / 0.8 * forward));
}

TEST_CASE("a sliding window makes long attention shorter") {
    AttentionKernel kernel{.batch = 1, .seq = 32768, .heads_q = 32, .heads_kv = 32};
    const Seconds full = attention_closed_form(fit(), kPeak, kSms, kernel);
    kernel.window = 1024;
    CHECK(attention_closed_form(fit(), kPeak, kSms, kernel) < full / 5.0);
}

TEST_CASE("attention takes its row, an interpolation, then the closed form") {
    const GpuProfile gpu = gpu_with_rows();
    const AttentionTimes times(gpu);
    const AttentionKernel row{.batch = 1, .seq = 2048, .heads_q = 16, .heads_kv = 8};
    CHECK(times.time(row).source == TimeSource::Measured);
    CHECK(times.time(row).time.si() ==
          Approx(1.2 * attention_closed_form(fit(), kPeak, kSms, row).si()));
    const AttentionKernel between{.batch = 1, .seq = 3072, .heads_q = 24, .heads_kv = 8};
    CHECK(times.time(between).source == TimeSource::Interpolated);
    CHECK(times.time(between).time.si() ==
          Approx(1.2 * attention_closed_form(fit(), kPeak, kSms, between).si()));
    const AttentionKernel beyond{.batch = 1, .seq = 65536, .heads_q = 16, .heads_kv = 8};
    CHECK(times.time(beyond).source == TimeSource::Roofline);
    AttentionKernel half = row;
    half.dtype = Dtype::Fp16;
    CHECK(times.time(half).source == TimeSource::Measured);
}

TEST_CASE("a backward that nobody measured follows the measured forward") {
    const AttentionTimes times(gpu_with_rows());
    AttentionKernel kernel{.batch = 1, .seq = 2048, .heads_q = 16, .heads_kv = 8};
    kernel.pass = KernelPass::Backward;
    CHECK(times.time(kernel).source == TimeSource::Roofline);
    CHECK(times.time(kernel).time.si() ==
          Approx(1.2 * attention_closed_form(fit(), kPeak, kSms, kernel).si()));
    CHECK(times.time(kernel).sigma > 0.1);
}

TEST_CASE("another framework's kernel is no row of the table") {
    FrameworkProfile framework;
    framework.attention_factor = 1.75;
    const GpuProfile gpu = gpu_with_rows();
    const AttentionKernel row{.batch = 1, .seq = 2048, .heads_q = 16, .heads_kv = 8};
    const KernelTime time = KernelTimes(gpu, framework).time(row);
    CHECK(time.source == TimeSource::Roofline);
    CHECK(time.time.si() == Approx(1.75 * AttentionTimes(gpu).time(row).time.si()));
}
