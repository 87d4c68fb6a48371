// SPDX-License-Identifier: Apache-2.0
#include "calibrate/fit/attention_fit.hpp"
#include "calibrate/fit/fit_proto.hpp"
#include "calibrate/fit/gpu_kernel_fits.hpp"
#include "calibrate/fit/profile_maker.hpp"
#include "calibrate/fit/thin_table.hpp"
#include "cost/attention_time.hpp"
#include "cost/measured_tables.hpp"
#include "schema/gpu_profile.pb.h"

#include <algorithm>
#include <cstdio>

namespace orrery {
namespace {

/// A table costs every run the time to read it: bf16 whole, the rest as room is.
constexpr std::size_t kGemmTableBytes = 1'200'000;

const Origin kDatasheet{"NVIDIA datasheet", Trust::Datasheet, 0.0};

std::string percent(double share) {
    std::array<char, 32> buffer{};
    const int size = std::snprintf(buffer.data(), buffer.size(), "%.1f%%", 100.0 * share);
    return {buffer.data(), static_cast<std::size_t>(size)};
}

void add_peak(schema::GpuProfile& proto, Dtype dtype, double tflops) {
    if (tflops > 0.0) {
        auto* peak = proto.add_peak();
        peak->set_dtype(std::string(to_string(dtype)));
        peak->set_value(quantity_text(FlopPerSecond(tflops * 1e12)));
        peak->set_origin(kDatasheet.text);
        peak->set_trust(schema::Provenance::DATASHEET);
    }
}

void write_datasheet(const KnownGpu& gpu, schema::GpuProfile& proto) {
    add_peak(proto, Dtype::Bf16, gpu.bf16_tflops);
    add_peak(proto, Dtype::Fp8, gpu.fp8_tflops);
    add_peak(proto, Dtype::Nvfp4, gpu.nvfp4_tflops);
    add_peak(proto, Dtype::Fp32, gpu.fp32_tflops);
    write_quantity(*proto.mutable_hbm_bandwidth(),
                   quantity_text(BytesPerSecond(gpu.hbm_gbps * 1e9)), kDatasheet);
    write_quantity(*proto.mutable_l2(), std::to_string(static_cast<int>(gpu.l2_mb)) + " MB",
                   kDatasheet);
    std::array<char, 32> capacity{};
    std::snprintf(capacity.data(), capacity.size(), "%.2f GiB", gpu.capacity_gib);
    write_quantity(*proto.mutable_memory_capacity(), capacity.data(),
                   {"what PyTorch reports as total", Trust::Recalled, 0.005});
    write_count(*proto.mutable_sms(), gpu.sms, kDatasheet);
    write_quantity(
        *proto.mutable_kernel_gap(), "1 us",
        {"gaps of a busy stream are 2 us (1 to 3); the tables' times, from replayed graphs and "
         "kernels back to back, hold about 1 us of it",
         Trust::Assumed, 0.4});
    write_quantity(*proto.mutable_nvlink_bandwidth(),
                   quantity_text(BytesPerSecond(gpu.nvlink_gbps * 1e9)), kDatasheet);
}

Expected<bool> write_products(const CalibrationFolder& folder, const KnownGpu& gpu,
                              schema::GpuProfile& proto, GpuProfile& profile) {
    ORRERY_TRY(fits, gemm_fits(folder, gpu));
    for (const auto& [dtype, fit] : fits) {
        write_gemm(*proto.add_gemm(), dtype, fit.value, fit.origin);
        profile.gemm[dtype] = fit.value;
    }
    ORRERY_TRY(layouts, layout_factors(folder, gpu));
    for (const auto& [name, value] : {std::pair{"NN", layouts.value.input_gradient},
                                      std::pair{"NT", layouts.value.weight_gradient}}) {
        auto* layout = proto.add_layout();
        layout->set_layout(name);
        layout->set_value(rounded(value));
        layout->set_sigma(rounded(layouts.value.sigma));
        layout->set_origin(layouts.origin.text);
        layout->set_trust(layouts.origin.trust == Trust::Measured ? schema::Provenance::MEASURED
                                                                  : schema::Provenance::SCALED);
    }
    Origin accumulate = layouts.origin;
    if (!layouts.value.has_accumulate) {
        accumulate = {"as b200: SimuMax 4dcaae5 (Apache-2.0)", Trust::Scaled, layouts.value.sigma};
    }
    write_factor(*proto.mutable_accumulate(), layouts.value.accumulate, accumulate);
    ORRERY_TRY(sustained, sustained_factor(folder, gpu));
    write_factor(*proto.mutable_sustained(), sustained.value, sustained.origin);
    return true;
}

Expected<bool> write_memory_bound(const CalibrationFolder& folder, const KnownGpu& gpu,
                                  schema::GpuProfile& proto) {
    ORRERY_TRY(fits, memory_bound_fits(folder, gpu));
    for (const auto& [key, fit] : fits) {
        const std::size_t first = key.find('/');
        const std::size_t second = key.find('/', first + 1);
        auto* field = proto.add_memory_bound();
        field->set_op(key.substr(0, first));
        field->set_pass(key.substr(first + 1, second - first - 1));
        field->set_impl(key.substr(second + 1));
        field->set_t0(quantity_text(fit.value.t0));
        field->set_share(rounded(fit.value.share));
        field->set_sigma(rounded(fit.value.sigma));
        field->set_origin(fit.origin.text);
        field->set_trust(fit.origin.trust == Trust::Measured ? schema::Provenance::MEASURED
                         : fit.origin.trust == Trust::Scaled ? schema::Provenance::SCALED
                                                             : schema::Provenance::ASSUMED);
    }
    write_factor(
        *proto.mutable_cache_boost(), 1.15,
        {"kernels whose tensors stay under half the L2 run at up to 1.3 to 1.5 times HBM; half "
         "of it, as not every tensor is still there",
         Trust::Assumed, 0.1});
    const std::string trace =
        "DeepSeek profile-data: the same kernels with and without a communication "
        "kernel of 20 of 132 SMs";
    write_factor(*proto.mutable_gemm_beside_comm(), 0.96,
                 {trace + " ran 0 to 8% slower per free SM",
                  gpu.name == "h800" ? Trust::Measured : Trust::Scaled, 0.03});
    write_factor(
        *proto.mutable_memory_bound_beside_comm(), 0.92,
        {trace + " ran 9% slower", gpu.name == "h800" ? Trust::Measured : Trust::Scaled, 0.03});
    return true;
}

Expected<bool> write_nvlink(const CalibrationFolder& folder, const KnownGpu& gpu,
                            schema::GpuProfile& proto) {
    ORRERY_TRY(nvlink, fit_nvlink(folder, gpu));
    const Origin origin{nvlink.origin, nvlink.is_measured ? Trust::Measured : Trust::Scaled, 0.0};
    auto& field = *proto.mutable_nvlink();
    write_collective(*field.mutable_all_reduce(), nvlink.fits.all_reduce, origin);
    write_collective(*field.mutable_all_gather(), nvlink.fits.all_gather, origin);
    write_collective(*field.mutable_reduce_scatter(), nvlink.fits.reduce_scatter, origin);
    write_collective(*field.mutable_all_to_all(), nvlink.fits.all_to_all, origin);
    write_collective(*field.mutable_broadcast(), nvlink.fits.broadcast,
                     {"as all-gather: " + nvlink.origin, Trust::Scaled, 0.0});
    write_collective(*field.mutable_send_recv(), nvlink.fits.send_recv,
                     {"all-to-all of two ranks: " + nvlink.origin, origin.trust, 0.0});
    write_count(*field.mutable_sms(), nvlink.fits.sms,
                {"NCCL 2.30 src/graph: channels of one node", Trust::Assumed, 0.0});
    return true;
}

Expected<bool> add_gemm_table(const CalibrationFolder& folder, const KnownGpu& gpu,
                              schema::GpuProfile& proto, MadeProfile& made) {
    const KnownGpu& donor = gemm_donor(folder, gpu);
    if (donor.name != gpu.name && !gpu.has_sibling_kernels) {
        return true;
    }
    ORRERY_TRY(table, folder.table("gemm_" + std::string(donor.table)));
    // A sibling with another memory shares the products that memory does not bind.
    const Ceilings ceilings{FlopPerSecond(gpu.bf16_tflops * 1e12),
                            BytesPerSecond(gpu.hbm_gbps * 1e9)};
    const auto is_bound_by_compute = [&](const GemmPoint& point) {
        const Bytes bytes = kernel_bytes_read(point.shape) + kernel_bytes_written(point.shape);
        return kernel_flop(point.shape) / ceilings.peak > 2.0 * (bytes / ceilings.hbm);
    };
    ORRERY_TRY(text,
               thin_gemm_table(table, kGemmTableBytes,
                               donor.name == gpu.name
                                   ? std::function<bool(const GemmPoint&)>()
                                   : std::function<bool(const GemmPoint&)>(is_bound_by_compute)));
    const std::string file = std::string(gpu.name) + "_gemm.csv";
    const std::string origin =
        "NVIDIA aiconfigurator 095f58a (Apache-2.0), bursts by CUDA-graph replay";
    made.parts.push_back({file, "# " + origin + "\n" + text});
    proto.mutable_gemm_table()->set_file(file);
    proto.mutable_gemm_table()->set_origin(origin);
    return true;
}

Expected<bool> add_attention(const CalibrationFolder& folder, const KnownGpu& gpu,
                             schema::GpuProfile& proto, MadeProfile& made) {
    ORRERY_TRY(parts, attention_parts(folder, gpu));
    for (const auto& [dtype, fit] : parts.fits) {
        auto* field = proto.add_attention();
        field->set_dtype(std::string(to_string(dtype)));
        field->set_t0(quantity_text(fit.value.t0));
        field->set_e_inf(rounded(fit.value.e_inf));
        field->set_s_half(rounded(fit.value.s_half));
        field->set_backward_efficiency(rounded(fit.value.backward_efficiency));
        field->set_sigma(rounded(fit.value.sigma));
        field->set_origin(fit.origin.text);
        field->set_trust(fit.origin.trust == Trust::Measured ? schema::Provenance::MEASURED
                                                             : schema::Provenance::SCALED);
        const AttentionTarget target{
            dtype, FlopPerSecond((dtype == Dtype::Bf16 ? gpu.bf16_tflops : gpu.fp8_tflops) * 1e12),
            gpu.sms};
        const FitQuality forward =
            attention_quality(fit.value, parts.points, target, KernelPass::Forward);
        const FitQuality backward =
            attention_quality(fit.value, parts.points, target, KernelPass::Backward);
        made.notes.push_back("attention " + std::string(to_string(dtype)) + ": closed form " +
                             percent(forward.mean_error) + " of " + std::to_string(forward.points) +
                             " forward, " + percent(backward.mean_error) + " of " +
                             std::to_string(backward.points) + " backward");
    }
    if (!parts.points.empty()) {
        const std::string file = std::string(gpu.name) + "_attention.csv";
        const std::string origin = parts.fits.begin()->second.origin.text;
        made.parts.push_back({file, attention_table_text(parts.points, origin)});
        proto.mutable_attention_table()->set_file(file);
        proto.mutable_attention_table()->set_origin(origin);
    }
    return true;
}

/// Closed-form and leave-one-out errors over the whole calibration table.
Expected<bool> add_gemm_notes(const CalibrationFolder& folder, const KnownGpu& gpu,
                              const GpuProfile& fitted, MadeProfile& made) {
    if (gemm_donor(folder, gpu).name != gpu.name) {
        return true;
    }
    ORRERY_TRY(table, folder.table("gemm_" + std::string(gpu.table)));
    ORRERY_TRY(points, read_gemm_points(table));
    GpuProfile profile = fitted;
    profile.sms = gpu.sms;
    profile.hbm_bandwidth = BytesPerSecond(gpu.hbm_gbps * 1e9);
    profile.peak[Dtype::Bf16] = FlopPerSecond(gpu.bf16_tflops * 1e12);
    profile.peak[Dtype::Fp8] = FlopPerSecond(std::max(gpu.fp8_tflops, 1.0) * 1e12);
    profile.gemm_table = points;
    const GemmTimes times(profile);
    for (const Dtype dtype : {Dtype::Bf16, Dtype::Fp8DynQuant, Dtype::Fp8Block128}) {
        if (!profile.gemm.contains(dtype) || (dtype != Dtype::Bf16 && gpu.fp8_tflops == 0.0)) {
            continue;
        }
        const Ceilings ceilings{*peak_of(profile, dtype), profile.hbm_bandwidth};
        const GemmFit& fit = profile.gemm.at(dtype);
        made.notes.push_back(
            "gemm " + std::string(to_string(dtype)) + ": closed form " +
            percent(gemm_quality(fit, points, dtype, ceilings, 1).mean_error) +
            ", training sizes " +
            percent(gemm_quality(fit, points, dtype, ceilings, 1024).mean_error) +
            "; leave one out " + percent(quality_of(times.leave_one_out(dtype, 1)).mean_error) +
            ", training sizes " + percent(quality_of(times.leave_one_out(dtype, 1024)).mean_error));
    }
    return true;
}

}  // namespace

Expected<MadeProfile> make_gpu_profile(const CalibrationFolder& folder, const KnownGpu& gpu) {
    MadeProfile made;
    schema::GpuProfile proto;
    GpuProfile fitted;
    const bool is_measured = gemm_donor(folder, gpu).name == gpu.name || gpu.has_sibling_kernels;
    proto.set_name(std::string(gpu.name));
    proto.set_summary(std::string(gpu.summary));
    proto.set_origin(is_measured ? "measured"
                                 : "datasheet, kernels scaled from " + std::string(gpu.sibling));
    write_datasheet(gpu, proto);
    ORRERY_TRY(products, write_products(folder, gpu, proto, fitted));
    ORRERY_TRY(attention, add_attention(folder, gpu, proto, made));
    ORRERY_TRY(memory, write_memory_bound(folder, gpu, proto));
    ORRERY_TRY(nvlink, write_nvlink(folder, gpu, proto));
    ORRERY_TRY(table, add_gemm_table(folder, gpu, proto, made));
    ORRERY_TRY(notes, add_gemm_notes(folder, gpu, fitted, made));
    static_cast<void>(products && attention && memory && nvlink && table && notes);
    made.parts.push_back({std::string(gpu.name) + ".textproto",
                          profile_text(proto,
                                       "Made by orrery_make_profiles from public measurements; "
                                       "fp16 uses bf16's tables and fits.")});
    return made;
}

}  // namespace orrery
