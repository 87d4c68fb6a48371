// SPDX-License-Identifier: Apache-2.0
#include "calibrate/fit/attention_fit.hpp"
#include "calibrate/fit/gpu_kernel_fits.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>

namespace orrery {
namespace {

constexpr double kSiblingSigma = 0.10;
/// Sequence lengths that an attention fit needs, to tell its start, its rate and s_half apart.
constexpr std::size_t kEnoughLengths = 4;

/// Kernels of training in order of trust, and their sources.
struct AttentionKernels {
    std::vector<std::string> training;
    std::vector<std::string> others;  ///< for shapes that no training kernel was measured on
    std::string sources;
};

/// trtllm_mha is an inference kernel within ten percent of cuDNN's where both were measured, and
/// the only one with many shapes on Blackwell: it is in the tables, not in the fits.
AttentionKernels attention_kernels(std::string_view gpu) {
    if (gpu == "a100-pcie") {
        return {
            {"TE sdpa qkv_contig=True"}, {}, "SimuMax 4dcaae5 (Apache-2.0), Transformer Engine"};
    }
    if (gpu.starts_with("a")) {
        return {{"flash_attention"},
                {},
                "NVIDIA aiconfigurator 095f58a (Apache-2.0), FlashAttention 2"};
    }
    if (gpu.starts_with("h")) {
        return {
            {"cudnn91901*", "cudnn9.1", "flash_attention", "vllm_flash_attn_fa3", "FA3"},
            {},
            "NVIDIA aiconfigurator 095f58a (Apache-2.0), FlashAttention 3 (BSD-3), cuDNN front-end "
            "(MIT)"};
    }
    return {{"cudnn92200.0", "cudnn92200", "cudnn", "TE sdpa qkv_contig=True"},
            {"trtllm_mha", "flash_attention_v4"},
            "cuDNN front-end (MIT), SimuMax 4dcaae5 (Apache-2.0), NVIDIA aiconfigurator 095f58a "
            "(Apache-2.0)"};
}

bool has_forward(const std::vector<AttentionPoint>& points, Dtype dtype, std::int64_t sms) {
    return std::ranges::any_of(points, [&](const AttentionPoint& point) {
        const AttentionKernel& shape = point.shape;
        return shape.dtype == dtype && shape.pass == KernelPass::Forward && shape.causal &&
               shape.head_dim_v == 128 && shape.batch * shape.heads_q * shape.seq / 128 >= sms;
    });
}

std::size_t count_lengths(const std::vector<AttentionPoint>& points) {
    std::set<std::int64_t> lengths;
    for (const AttentionPoint& point : points) {
        lengths.insert(point.shape.seq);
    }
    return lengths.size();
}

/// The sibling's fits, less sure, with the points that this GPU has.
Expected<AttentionParts> sibling_parts(const CalibrationFolder& folder, const KnownGpu& gpu,
                                       const std::vector<AttentionPoint>& points) {
    ORRERY_TRY(parts, attention_parts(folder, known_gpu(gpu.sibling)));
    if (gpu.has_sibling_kernels) {
        return parts;
    }
    parts.points = points;
    for (auto& [dtype, fit] : parts.fits) {
        fit.value.sigma = std::hypot(fit.value.sigma, kSiblingSigma);
        fit.origin = {"as " + std::string(gpu.sibling) + ": " + fit.origin.text, Trust::Scaled,
                      fit.value.sigma};
    }
    return parts;
}

/// A backward that the tables hold in another form or on another GPU of the same chip.
Expected<bool> complete_backward(const CalibrationFolder& folder, const KnownGpu& gpu,
                                 const CsvTable& table, Sourced<AttentionFit>& fit) {
    if (gpu.name == "a100-sxm-80g") {
        const AttentionTarget target{Dtype::Bf16, FlopPerSecond(gpu.bf16_tflops * 1e12), gpu.sms};
        ORRERY_TRY(backward, backward_from_sums(table, "FA2", fit.value, target));
        fit.value.backward_efficiency = backward;
        fit.origin.text += "; backward from its published forward and backward together (BSD-3)";
    }
    if (gpu.name == "h100-sxm") {
        ORRERY_TRY(sibling, attention_parts(folder, known_gpu("h200")));
        fit.value.backward_efficiency = sibling.fits.at(Dtype::Bf16).value.backward_efficiency;
        fit.origin.text += "; backward as h200";
    }
    return true;
}

}  // namespace

Expected<AttentionParts> attention_parts(const CalibrationFolder& folder, const KnownGpu& gpu) {
    const std::string name = "attention_" + std::string(gpu.table);
    if (gpu.table.empty() || !folder.has(name)) {
        return sibling_parts(folder, gpu, {});
    }
    AttentionKernels kernels = attention_kernels(gpu.name);
    ORRERY_TRY(table, folder.table(name));
    ORRERY_TRY(points, choose_attention(table, kernels.training));
    if (count_lengths(points) < kEnoughLengths) {
        return sibling_parts(folder, gpu, points);
    }
    AttentionParts parts;
    for (const Dtype dtype : {Dtype::Bf16, Dtype::Fp8, Dtype::Mxfp8}) {
        if (!has_forward(points, dtype, gpu.sms)) {
            continue;
        }
        const double peak = dtype == Dtype::Bf16 ? gpu.bf16_tflops : gpu.fp8_tflops;
        const AttentionTarget target{dtype, FlopPerSecond(peak * 1e12), gpu.sms};
        const AttentionFit fit = fit_attention(points, target);
        parts.fits[dtype] = {fit, {kernels.sources, Trust::Measured, fit.sigma}};
    }
    ORRERY_TRY(completed, complete_backward(folder, gpu, table, parts.fits.at(Dtype::Bf16)));
    static_cast<void>(completed);
    kernels.training.insert(kernels.training.end(), kernels.others.begin(), kernels.others.end());
    ORRERY_TRY(every, choose_attention(table, kernels.training));
    parts.points = every;
    return parts;
}

}  // namespace orrery
