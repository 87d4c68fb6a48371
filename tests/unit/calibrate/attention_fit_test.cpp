// SPDX-License-Identifier: Apache-2.0
#include "calibrate/fit/attention_fit.hpp"

#include "cost/attention_time.hpp"
#include "tests/catch.hpp"

using namespace orrery;  // NOLINT(google-build-using-namespace)

namespace {

const AttentionTarget kH100{Dtype::Bf16, FlopPerSecond(989e12), 132};

CsvTable sample() {
    auto table = CsvTable::load(std::string(ORRERY_SOURCE_DIR) +
                                "/tests/unit/calibrate/data/attention_h100_sample.csv");
    REQUIRE(table);
    return *table;
}

}  // namespace

TEST_CASE(
    "FlashAttention 3 on H100 tends to 0.6 to 0.66 of peak, half of it at 500 to 700 tokens") {
    const auto points = choose_attention(sample(), {"flash_attention"});
    REQUIRE(points);
    CHECK(points->size() > 600);
    const AttentionFit fit = fit_attention(*points, kH100);
    CHECK(fit.e_inf > 0.59);
    CHECK(fit.e_inf < 0.67);
    CHECK(fit.s_half > 450.0);
    CHECK(fit.s_half < 750.0);
    CHECK(attention_quality(fit, *points, kH100, KernelPass::Forward).mean_error < 0.15);
}

TEST_CASE("interpolated attention beats the closed form on shapes it has not seen") {
    const auto points = choose_attention(sample(), {"flash_attention"});
    REQUIRE(points);
    GpuProfile gpu;
    gpu.sms = 132;
    gpu.peak[Dtype::Bf16] = kH100.peak;
    gpu.attention[Dtype::Bf16] = fit_attention(*points, kH100);
    gpu.attention_table = *points;
    const FitQuality unseen = quality_of(AttentionTimes(gpu).leave_one_out(KernelPass::Forward));
    CHECK(unseen.points > 500);
    CHECK(unseen.mean_error <
          attention_quality(gpu.attention[Dtype::Bf16], *points, kH100, KernelPass::Forward)
              .mean_error);
}

TEST_CASE("of several kernels of a shape the first preferred counts, fp16 as bf16") {
    const auto table = CsvTable::parse(
        "batch,seq,heads_q,heads_kv,head_dim_qk,head_dim_v,causal,dtype,pass,time_us,kernel\n"
        "1,4096,32,8,128,128,1,bf16,fwd,300,slow\n1,4096,32,8,128,128,1,fp16,fwd,250,cudnn9.1\n"
        "1,4096,32,8,128,128,1,bf16,fwd,200,unnamed\n1,4096,32,8,128,128,1,bf16,fwdbwd,900,slow\n"
        "1,4096,4,1,128,128,1,bf16,fwd,91.1,TE sdpa\n",
        "t.csv");
    REQUIRE(table);
    const auto points = choose_attention(*table, {"cudnn*", "slow", "TE*"});
    REQUIRE(points);
    REQUIRE(points->size() == 1);
    CHECK((*points)[0].time.si() == Approx(250e-6));
    CHECK((*points)[0].shape.dtype == Dtype::Bf16);
}

TEST_CASE("a backward measured only together with its forward is what is left of the sum") {
    const AttentionFit fit{.t0 = Seconds(0.0),
                           .e_inf = 0.65,
                           .s_half = 500.0,
                           .backward_efficiency = 1.0,
                           .sigma = 0.0};
    const AttentionTarget target{Dtype::Bf16, FlopPerSecond(312e12), 108};
    const AttentionKernel shape{.batch = 4, .seq = 4096, .heads_q = 16, .heads_kv = 16};
    const double forward = attention_closed_form(fit, target.peak, target.sms, shape).si();
    const double sum = forward * (1.0 + 2.5 / 0.9);
    const auto table = CsvTable::parse(
        "batch,seq,heads_q,causal,head_dim_qk,pass,time_us,kernel\n4,4096,16,1,128,fwdbwd," +
            std::to_string(sum * 1e6) + ",FA2\n4,4096,16,1,128,fwdbwd,1,other\n",
        "t.csv");
    REQUIRE(table);
    CHECK(*backward_from_sums(*table, "FA2", fit, target) == Approx(0.9).epsilon(1e-4));
    CHECK(*backward_from_sums(*table, "none", fit, target) == 0.85);
}
