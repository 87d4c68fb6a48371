// SPDX-License-Identifier: Apache-2.0
#include "calibrate/fit/gpu_kernel_fits.hpp"

#include "calibrate/fit/attention_fit.hpp"
#include "cost/measured_tables.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace orrery {
namespace {

constexpr const char* kAiconfigurator = "NVIDIA aiconfigurator 095f58a (Apache-2.0)";
constexpr const char* kSimuMax = "SimuMax 4dcaae5 (Apache-2.0)";
constexpr const char* kBestShapes = "best shapes of ml-engineering (CC BY-SA)";

/// Spread that a sibling's fit adds.
constexpr double kSiblingSigma = 0.10;
constexpr double kDerivedSigma = 0.20;
/// Power follows clock to about this power where voltage falls with it.
constexpr double kPowerOfClock = 2.5;

std::string donor_text(const KnownGpu& gpu, const KnownGpu& donor, const std::string& source) {
    if (gpu.name == donor.name) {
        return source;
    }
    return (gpu.has_sibling_kernels ? "same kernels as " : "scaled from ") +
           std::string(donor.name) + ": " + source;
}

Trust donor_trust(const KnownGpu& gpu, const KnownGpu& donor) {
    return gpu.name == donor.name || gpu.has_sibling_kernels ? Trust::Measured : Trust::Scaled;
}

Ceilings ceilings_of(const KnownGpu& gpu, Dtype dtype) {
    const double peak = dtype == Dtype::Bf16 ? gpu.bf16_tflops : gpu.fp8_tflops;
    return {FlopPerSecond(peak * 1e12), BytesPerSecond(gpu.hbm_gbps * 1e9)};
}

/// Share of peak of the best shape in fp8 over that in bf16, where a search found both.
Expected<double> fp8_against_bf16(const CalibrationFolder& folder, const KnownGpu& gpu) {
    constexpr double kUsualRatio = 0.93;  // mean of the GPUs below

    struct Words {
        std::string_view gpu;
        std::string_view bf16;
        std::string_view fp8;
    };

    // H200's bf16 best was left out of the search; it is H100's chip.
    constexpr std::array<Words, 4> kWords{{{"h100-sxm", "H100 SXM", "H100 SXM"},
                                           {"h200", "H100 SXM", "H200 SXM"},
                                           {"b200", "B200 SXM", "B200 SXM"},
                                           {"gb200", "GB200 SXM", "GB200 SXM"}}};
    ORRERY_TRY(table, folder.table("gemm_best_shape"));
    ORRERY_TRY(columns, table.require({"gpu", "dtype", "eff"}));
    const auto* words = std::ranges::find(kWords, gpu.name, &Words::gpu);
    if (words == kWords.end()) {
        return kUsualRatio;
    }
    double bf16 = 0.0;
    double fp8 = 0.0;
    for (std::size_t row = 0; row < table.rows(); ++row) {
        const std::string_view cell = table.cell(row, columns[0]);
        const std::string_view dtype = table.cell(row, columns[1]);
        const double share = table.number(row, columns[2]).value_or(0.0);
        bf16 = dtype == "bf16" && cell == words->bf16 ? share : bf16;
        fp8 = dtype == "fp8" && cell == words->fp8 ? share : fp8;
    }
    return bf16 > 0.0 && fp8 > 0.0 ? fp8 / bf16 : kUsualRatio;
}

void add_derived(std::map<Dtype, Sourced<GemmFit>>& fits, const KnownGpu& gpu, double ratio) {
    const GemmFit bf16 = fits.at(Dtype::Bf16).value;
    GemmFit fp8 = bf16;
    fp8.flop_efficiency = bf16.flop_efficiency * ratio;
    fp8.sigma = std::hypot(bf16.sigma, kDerivedSigma);
    const Origin origin{std::string("bf16's fit, efficiency by the ") + kBestShapes, Trust::Scaled,
                        fp8.sigma};
    fits[Dtype::Fp8] = {fp8, origin};
    if (gpu.nvfp4_tflops > 0.0) {
        fits[Dtype::Mxfp8] = {fp8, origin};
        GemmFit nvfp4 = bf16;
        nvfp4.flop_efficiency = 0.8 * bf16.flop_efficiency;
        nvfp4.sigma = std::hypot(bf16.sigma, 0.25);
        fits[Dtype::Nvfp4] = {nvfp4,
                              {"bf16's efficiency times 0.8; nothing public was measured",
                               Trust::Assumed, nvfp4.sigma}};
    }
}

bool is_of(const KnownGpu& gpu, std::string_view family) {
    return gpu.name.starts_with(family);
}

bool is_hopper(const KnownGpu& gpu) {
    return is_of(gpu, "h");
}

bool is_ampere(const KnownGpu& gpu) {
    return is_of(gpu, "a");
}

}  // namespace

const KnownGpu& gemm_donor(const CalibrationFolder& folder, const KnownGpu& gpu) {
    const bool is_own = !gpu.table.empty() && folder.has("gemm_" + std::string(gpu.table));
    return is_own ? gpu : known_gpu(gpu.sibling);
}

Expected<std::map<Dtype, Sourced<GemmFit>>> gemm_fits(const CalibrationFolder& folder,
                                                      const KnownGpu& gpu) {
    const KnownGpu& donor = gemm_donor(folder, gpu);
    ORRERY_TRY(table, folder.table("gemm_" + std::string(donor.table)));
    ORRERY_TRY(points, read_gemm_points(table));
    std::map<Dtype, Sourced<GemmFit>> fits;
    for (const Dtype dtype : {Dtype::Bf16, Dtype::Fp8DynQuant, Dtype::Fp8Block128}) {
        if (std::ranges::none_of(points, [&](const auto& p) { return p.shape.dtype == dtype; })) {
            continue;
        }
        GemmFit fit = fit_gemm(points, dtype, ceilings_of(donor, dtype));
        fit.whole_waves = is_ampere(donor);
        if (donor_trust(gpu, donor) == Trust::Scaled) {
            fit.sigma = std::hypot(fit.sigma, kSiblingSigma);
        }
        fits[dtype] = {
            fit, {donor_text(gpu, donor, kAiconfigurator), donor_trust(gpu, donor), fit.sigma}};
    }
    if (gpu.fp8_tflops > 0.0) {
        ORRERY_TRY(ratio, fp8_against_bf16(folder, donor));
        add_derived(fits, gpu, ratio);
    }
    return fits;
}

Expected<Sourced<LayoutFactors>> layout_factors(const CalibrationFolder& folder,
                                                const KnownGpu& gpu) {
    ORRERY_TRY(blackwell_table, folder.table("gemm_layouts_b200_sxm"));
    ORRERY_TRY(blackwell, fit_layouts(blackwell_table, 1.0));
    ORRERY_TRY(ampere_table, folder.table("gemm_layouts_a100_pcie"));
    ORRERY_TRY(ampere, fit_layouts(ampere_table, blackwell.accumulate));
    const std::string source = std::string(kSimuMax) + ", training shapes";
    if (is_ampere(gpu)) {
        const bool is_own = gpu.name == "a100-pcie";
        return Sourced<LayoutFactors>{ampere,
                                      {is_own ? source : "measured on a100-pcie: " + source,
                                       is_own ? Trust::Measured : Trust::Scaled, ampere.sigma}};
    }
    if (!is_hopper(gpu)) {
        const bool is_own = gpu.name == "b200";
        return Sourced<LayoutFactors>{blackwell,
                                      {is_own ? source : "measured on b200: " + source,
                                       is_own ? Trust::Measured : Trust::Scaled, blackwell.sigma}};
    }
    LayoutFactors mean = ampere;
    mean.input_gradient = std::sqrt(ampere.input_gradient * blackwell.input_gradient);
    mean.weight_gradient = std::sqrt(ampere.weight_gradient * blackwell.weight_gradient);
    mean.accumulate = blackwell.accumulate;
    mean.sigma = std::max(ampere.sigma, blackwell.sigma) + 0.05;
    return Sourced<LayoutFactors>{
        mean,
        {"geometric mean of a100-pcie and b200 (" + source + "); nobody has published Hopper's",
         Trust::Scaled, mean.sigma}};
}

Expected<Sourced<double>> sustained_factor(const CalibrationFolder& folder, const KnownGpu& gpu) {
    const std::string own = "gemm_sustained_" + std::string(gpu.table);
    if (!gpu.table.empty() && folder.has(own)) {
        ORRERY_TRY(burst_table, folder.table("gemm_" + std::string(gpu.table)));
        ORRERY_TRY(burst, read_gemm_points(burst_table));
        ORRERY_TRY(steady_table, folder.table(own));
        ORRERY_TRY(steady, read_gemm_points(steady_table));
        return Sourced<double>{
            sustained_ratio(burst, steady, Dtype::Bf16),
            {std::string(kAiconfigurator) + ", steady power against bursts, bf16 "
                                            "products of 20 GFLOP and more",
             Trust::Measured, 0.05}};
    }
    if (gpu.name == "a100-pcie") {
        return Sourced<double>{
            271.2 / 252.9,
            {std::string("a100-sxm against a100-pcie in the ") + kBestShapes, Trust::Scaled, 0.05}};
    }
    if (is_ampere(gpu)) {
        return Sourced<double>{
            1.0,
            {"Azure AI-benchmarking-guide (MIT): products of 4096 and more run as "
             "in bursts",
             Trust::Measured, 0.05}};
    }
    if (is_hopper(gpu)) {
        // Measured at the full 700 W; a lower limit lowers the clock by its power's root.
        const double limit = std::pow(700.0 / gpu.power_w, 1.0 / kPowerOfClock);
        return Sourced<double>{1.10 * limit,
                               {"h200's steady-power table of " + std::string(kAiconfigurator) +
                                    ", whose weights are constant, times (700 W / limit)^(1/2.5)",
                                gpu.name == "h200" ? Trust::Measured : Trust::Scaled, 0.10}};
    }
    ORRERY_TRY(factor, sustained_factor(folder, known_gpu(gpu.sibling)));
    return Sourced<double>{
        factor.value,
        {"as " + std::string(gpu.sibling) + ", " + factor.origin.text, Trust::Scaled, 0.10}};
}

}  // namespace orrery
