// SPDX-License-Identifier: Apache-2.0
#include "calibrate/fit/memory_bound_fit.hpp"

#include "calibrate/fit/nelder_mead.hpp"
#include "cost/measured_tables.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

namespace orrery {
namespace {

constexpr std::size_t kLeastPoints = 3;
/// A group that spreads further does not follow the form.
constexpr double kMostSigma = 0.25;

/// The profile's word for an op, and the tensors of rows × width that cross HBM by pass.
struct OpTraffic {
    std::string_view word;
    std::string_view op;
    double forward = 0.0;
    double backward = 0.0;
};

constexpr OpTraffic kOps[] = {
    {"rms_norm", "rms_norm", 2, 3},
    {"layer_norm", "layer_norm", 2, 3},
    {"ln", "layer_norm", 2, 3},
    {"megatron_rms_norm", "rms_norm", 2, 3},
    {"fused_add_rms_norm", "add_rms_norm", 4, 4},
    {"megatron_swiglu", "swiglu", 3, 5},
    {"swiglu", "swiglu", 3, 5},
    {"rope", "rope", 2, 2},
    {"softmax", "softmax", 2, 3},
    {"add", "residual_add", 3, 3},
    {"mul", "scale", 3, 3},
};

std::string impl_of(std::string_view word) {
    if (word == "torch_compile") {
        return "compiled";
    }
    for (const std::string_view fused : {"cudnn", "liger", "megatron", "transformer_engine"}) {
        if (word.starts_with(fused) && word != "liger_rms_norm") {
            return "fused";
        }
    }
    for (const std::string_view eager : {"torch", "pytorch", "huggingface"}) {
        if (word.starts_with(eager)) {
            return "eager";
        }
    }
    return {};
}

const OpTraffic* traffic_of(std::string_view word) {
    const auto* found = std::ranges::find(kOps, word, &OpTraffic::word);
    return found == std::end(kOps) ? nullptr : found;
}

/// Share of HBM that a point reached after t0.
double share_of(const MemoryBoundPoint& point, BytesPerSecond hbm, Seconds t0) {
    const double rest = std::max((point.time - t0).si(), 0.1 * point.time.si());
    return point.bytes.si() / (rest * hbm.si());
}

}  // namespace

Expected<std::vector<MemoryBoundPoint>> read_memory_bound(const CsvTable& table) {
    ORRERY_TRY(columns, table.require({"op", "pass", "rows", "width", "dtype", "time_us",
                                       "gbps_min_traffic", "impl"}));
    std::vector<MemoryBoundPoint> points;
    for (std::size_t row = 0; row < table.rows(); ++row) {
        const OpTraffic* traffic = traffic_of(table.cell(row, columns[0]));
        const std::string_view pass = table.cell(row, columns[1]);
        const std::string_view word = table.cell(row, columns[7]);
        // Hugging Face's own norm and rotary are chains of small kernels; its layer_norm is
        // PyTorch's.
        const bool is_chain = word == "huggingface" && table.cell(row, columns[0]) != "layer_norm";
        const std::string impl = is_chain ? std::string() : impl_of(word);
        const auto time = table.number(row, columns[5]);
        const auto rows = table.number(row, columns[2]);
        const auto width = table.number(row, columns[3]);
        const auto dtype = parse_dtype(table.cell(row, columns[4]));
        if (traffic == nullptr || impl.empty() || (pass != "fwd" && pass != "bwd") || !time ||
            !rows || !width || !dtype || *time <= 0.0) {
            continue;
        }
        const double tensors = pass == "fwd" ? traffic->forward : traffic->backward;
        Bytes bytes(tensors * *rows * *width * bytes_per_element(*dtype));
        if (const auto rate = table.number(row, columns[6])) {
            bytes = Bytes(*rate * 1e9 * *time * 1e-6);
        }
        points.push_back({.op = std::string(traffic->op),
                          .pass = pass == "fwd" ? "forward" : "backward",
                          .impl = impl,
                          .bytes = bytes,
                          .time = Seconds(*time * 1e-6)});
    }
    return points;
}

Expected<BytesPerSecond> stream_copy_rate(const CsvTable& table) {
    constexpr double kLongMicroseconds = 100.0;
    ORRERY_TRY(columns, table.require({"op", "gbps_min_traffic", "time_us"}));
    std::vector<double> quantisers;
    for (std::size_t row = 0; row < table.rows(); ++row) {
        const auto rate = table.number(row, columns[1]);
        const auto time = table.number(row, columns[2]);
        if (!rate) {
            continue;
        }
        if (table.cell(row, columns[0]) == "babelstream_copy") {
            return BytesPerSecond(*rate * 1e9);
        }
        if (table.cell(row, columns[0]) == "static_quant_bf16_to_fp8" && time &&
            *time >= kLongMicroseconds) {
            quantisers.push_back(*rate * 1e9);
        }
    }
    return BytesPerSecond(quantisers.empty() ? 0.0 : median(quantisers));
}

std::map<std::string, MemoryBoundFit> fit_memory_bound(const std::vector<MemoryBoundPoint>& points,
                                                       BytesPerSecond hbm, Bytes l2, Seconds t0) {
    std::map<std::string, std::vector<MemoryBoundPoint>> groups;
    for (const MemoryBoundPoint& point : points) {
        groups[point.op + "/" + point.pass + "/" + point.impl].push_back(point);
    }
    std::map<std::string, MemoryBoundFit> fits;
    for (auto& [key, group] : groups) {
        if (group.size() < kLeastPoints) {
            continue;
        }
        std::ranges::stable_sort(group, std::ranges::greater{}, &MemoryBoundPoint::bytes);
        std::vector<double> shares;
        for (const MemoryBoundPoint& point : group) {
            if (point.bytes >= l2 / 2.0 || shares.size() < kLeastPoints) {
                shares.push_back(share_of(point, hbm, t0));
            }
        }
        MemoryBoundFit fit{.t0 = t0, .share = median(shares), .sigma = 0.0};
        std::vector<double> residuals;
        for (const double share : shares) {
            residuals.push_back(std::log(fit.share / share));
        }
        fit.sigma = std::max(quality_of(residuals).sigma, 0.05);
        if (fit.sigma <= kMostSigma) {
            fits[key] = fit;
        }
    }
    return fits;
}

double fit_cache_boost(const std::vector<MemoryBoundPoint>& points,
                       const std::map<std::string, MemoryBoundFit>& fits, BytesPerSecond hbm,
                       Bytes l2) {
    std::vector<double> boosts;
    for (const MemoryBoundPoint& point : points) {
        const auto fit = fits.find(point.op + "/" + point.pass + "/" + point.impl);
        if (fit != fits.end() && point.pass == "forward" && point.bytes < l2 / 2.0 &&
            point.bytes > l2 / 8.0) {
            boosts.push_back(share_of(point, hbm, fit->second.t0) / fit->second.share);
        }
    }
    return boosts.empty() ? 1.0 : std::clamp(median(boosts), 1.0, 1.5);
}

}  // namespace orrery
