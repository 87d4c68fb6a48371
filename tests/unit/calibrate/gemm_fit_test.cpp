// SPDX-License-Identifier: Apache-2.0
#include "calibrate/fit/gemm_fit.hpp"

#include "cost/measured_tables.hpp"
#include "tests/catch.hpp"

#include <cmath>

using namespace orrery;  // NOLINT(google-build-using-namespace)

namespace {

std::string data(const std::string& name) {
    return std::string(ORRERY_SOURCE_DIR) + "/tests/unit/calibrate/data/" + name;
}

std::vector<GemmPoint> points_of(const std::string& name) {
    const auto table = CsvTable::load(data(name));
    REQUIRE(table);
    const auto points = read_gemm_points(*table);
    REQUIRE(points);
    return *points;
}

/// Fits published beside the tables: the whole bf16 table, multiples of 64.
struct Published {
    const char* file;
    double tflops;
    double hbm_gbps;
    double flop_efficiency;
    double all;       ///< mean error, percent
    double training;  ///< every dimension at least 1024
};

constexpr Published kPublished[] = {
    {"gemm_a100_sxm_sample.csv", 312, 2039, 0.812, 8.6, 5.4},
    {"gemm_h100_sxm_sample.csv", 989, 3350, 0.758, 7.0, 4.2},
    {"gemm_h200_sxm_sample.csv", 989, 4800, 0.757, 7.5, 4.6},
    {"gemm_b200_sxm_sample.csv", 2250, 8000, 0.674, 7.8, 4.6},
    {"gemm_gb200_sample.csv", 2500, 8000, 0.664, 8.1, 5.2},
};

GpuProfile profile_of(const std::vector<GemmPoint>& points, double tflops, double hbm_gbps,
                      std::int64_t sms, bool whole_waves) {
    GpuProfile gpu;
    gpu.sms = sms;
    gpu.hbm_bandwidth = BytesPerSecond(hbm_gbps * 1e9);
    gpu.peak[Dtype::Bf16] = FlopPerSecond(tflops * 1e12);
    gpu.gemm[Dtype::Bf16] =
        fit_gemm(points, Dtype::Bf16, {gpu.peak[Dtype::Bf16], gpu.hbm_bandwidth});
    gpu.gemm[Dtype::Bf16].whole_waves = whole_waves;
    gpu.gemm_table = points;
    return gpu;
}

}  // namespace

TEST_CASE("fits of 400 rows find the published efficiencies and errors of the whole tables") {
    for (const Published& published : kPublished) {
        CAPTURE(published.file);
        const std::vector<GemmPoint> points = points_of(published.file);
        const Ceilings ceilings{FlopPerSecond(published.tflops * 1e12),
                                BytesPerSecond(published.hbm_gbps * 1e9)};
        const GemmFit fit = fit_gemm(points, Dtype::Bf16, ceilings);
        CHECK(fit.flop_efficiency == Approx(published.flop_efficiency).margin(0.02));
        const auto error = [&](std::int64_t least) {
            return 100.0 * gemm_quality(fit, points, Dtype::Bf16, ceilings, least).mean_error;
        };
        // Other selections of the rows give errors up to 1.8 points higher; a sample adds its
        // noise.
        CHECK(error(1) == Approx(published.all + 0.9).margin(1.4));
        CHECK(error(1024) == Approx(published.training).margin(0.8));
        CHECK(fit.sigma > 0.0);
    }
}

TEST_CASE("a fit finds again the numbers that made the times") {
    const GemmFit truth{.t0 = Seconds(4e-6),
                        .flop_efficiency = 0.7,
                        .byte_efficiency = 0.9,
                        .q = 2.0,
                        .sigma = 0.0};
    const Ceilings ceilings{FlopPerSecond(1e15), BytesPerSecond(3e12)};
    std::vector<GemmPoint> points;
    for (std::int64_t m = 64; m <= 8192; m *= 2) {
        for (std::int64_t n = 64; n <= 8192; n *= 2) {
            for (const std::int64_t k : {64, 512, 4096}) {
                const GemmKernel shape{.m = m, .n = n, .k = k};
                points.push_back({shape, gemm_closed_form(truth, ceilings, shape)});
            }
        }
    }
    const GemmFit fit = fit_gemm(points, Dtype::Bf16, ceilings);
    CHECK(fit.t0.si() * 1e6 == Approx(4.0).epsilon(0.01));
    CHECK(fit.flop_efficiency == Approx(0.7).epsilon(0.01));
    CHECK(fit.byte_efficiency == Approx(0.9).epsilon(0.02));
    CHECK(fit.q == Approx(2.0).epsilon(0.05));
    CHECK(fit.sigma < 0.01);
}

TEST_CASE("interpolating in efficiency beats the closed form on shapes it has not seen") {
    const std::vector<GemmPoint> points = points_of("gemm_h100_sxm_block.csv");
    const GpuProfile gpu = profile_of(points, 989, 3350, 132, false);
    const std::vector<double> unseen = GemmTimes(gpu).leave_one_out(Dtype::Bf16, 1024);
    CHECK(unseen.size() > points.size() / 2);
    const FitQuality closed = gemm_quality(gpu.gemm.at(Dtype::Bf16), points, Dtype::Bf16,
                                           {gpu.peak.at(Dtype::Bf16), gpu.hbm_bandwidth}, 1024);
    CHECK(quality_of(unseen).mean_error < closed.mean_error);
    CHECK(quality_of(unseen).mean_error < 0.05);
}

TEST_CASE("A100's products come in whole waves, H100's do not") {
    const auto error = [](const char* file, double tflops, double hbm, std::int64_t sms,
                          bool waves) {
        const GpuProfile gpu = profile_of(points_of(file), tflops, hbm, sms, waves);
        return quality_of(GemmTimes(gpu).leave_one_out(Dtype::Bf16, 1024)).mean_error;
    };
    CHECK(error("gemm_a100_sxm_block.csv", 312, 2039, 108, true) <
          error("gemm_a100_sxm_block.csv", 312, 2039, 108, false));
    CHECK(error("gemm_h100_sxm_block.csv", 989, 3350, 132, false) <
          error("gemm_h100_sxm_block.csv", 989, 3350, 132, true));
}

TEST_CASE("layout factors compare each product with its gradients") {
    // Forward 100 µs; input gradient 110; weight gradient 108 with an fp32 D and 96 with a bf16 D.
    const auto table = CsvTable::parse(
        "m,n,k,layout,accumulate,out_dtype,time_us\n"
        "4096,10240,8192,TN,False,bf16,100\n4096,8192,10240,NN,False,bf16,110\n"
        "10240,8192,4096,NT,True,fp32,108\n10240,8192,4096,NT,True,bf16,96\n"
        "64,64,64,TN,False,bf16,5\n",
        "layouts.csv");
    REQUIRE(table);
    const auto factors = fit_layouts(*table, 1.0);
    REQUIRE(factors);
    CHECK(factors->input_gradient == Approx(1.10));
    CHECK(factors->accumulate == Approx(108.0 / 96.0));
    CHECK(factors->weight_gradient == Approx(0.96));
    CHECK(factors->has_accumulate);
}

TEST_CASE("measured weight gradients cost a little more a FLOP than the forward") {
    const auto table = CsvTable::load(data("gemm_layouts_b200_sample.csv"));
    REQUIRE(table);
    const auto factors = fit_layouts(*table, 1.06);
    REQUIRE(factors);
    CHECK(factors->weight_gradient * factors->accumulate > 1.0);
    CHECK(factors->weight_gradient * factors->accumulate < 1.15);
}

TEST_CASE("the sustained ratio is taken over large products only") {
    const GemmKernel large{.m = 4096, .n = 4096, .k = 4096};
    const GemmKernel small{.m = 512, .n = 512, .k = 512};
    const std::vector<GemmPoint> burst{{large, Seconds(100e-6)}, {small, Seconds(3e-6)}};
    const std::vector<GemmPoint> steady{{large, Seconds(113e-6)}, {small, Seconds(2.9e-6)}};
    CHECK(sustained_ratio(burst, steady, Dtype::Bf16) == Approx(1.13));
    CHECK(sustained_ratio(burst, {}, Dtype::Bf16) == 1.0);
}
