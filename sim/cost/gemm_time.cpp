// SPDX-License-Identifier: Apache-2.0
#include "cost/gemm_time.hpp"

#include "base/assert.hpp"

#include <algorithm>
#include <cmath>

namespace orrery {
namespace {

constexpr std::int64_t kTile = 64;
/// Spread that a factor for a layout or for accumulation adds.
constexpr double kLayoutSigma = 0.05;
/// Spread of a fit that was made for another number format.
constexpr double kBorrowedSigma = 0.25;

Dtype family_of(Dtype dtype) {
    switch (dtype) {
        case Dtype::Fp16:
            return Dtype::Bf16;
        case Dtype::Fp8DynQuant:
        case Dtype::Fp8Block128:
        case Dtype::Mxfp8:
            return Dtype::Fp8;
        case Dtype::Fp32:
        case Dtype::Bf16:
        case Dtype::Fp8:
        case Dtype::Nvfp4:
            break;
    }
    return dtype;
}

bool is_aligned(const GemmKernel& kernel) {
    return kernel.m % kTile == 0 && kernel.n % kTile == 0 && kernel.k % kTile == 0;
}

NearPoints::Coordinates coordinates(const GemmKernel& kernel) {
    return {std::log2(static_cast<double>(kernel.m)), std::log2(static_cast<double>(kernel.n)),
            std::log2(static_cast<double>(kernel.k))};
}

double rounded_up(std::int64_t size, std::int64_t unit) {
    return static_cast<double>((size + unit - 1) / unit * unit);
}

/// The forward product of the table that has the same shape.
GemmKernel table_shape(const GemmKernel& kernel) {
    return {.m = kernel.m, .n = kernel.n, .k = kernel.k, .batch = 1, .dtype = kernel.dtype};
}

/// Fit of `dtype`, or of the nearest format that the profile has; a borrowed one is less sure.
std::optional<GemmFit> fit_of(const GpuProfile& gpu, Dtype dtype) {
    const bool is_exact = gpu.gemm.contains(dtype);
    const Dtype family = family_of(dtype);
    for (const Dtype candidate : {dtype, family, Dtype::Bf16}) {
        if (const auto found = gpu.gemm.find(candidate); found != gpu.gemm.end()) {
            GemmFit fit = found->second;
            if (!is_exact && dtype != Dtype::Fp16) {
                fit.sigma = std::hypot(fit.sigma, kBorrowedSigma);
            }
            return fit;
        }
    }
    return std::nullopt;
}

/// The forward product of the layer whose gradient `kernel` is: the one that layout factors compare
/// it with. Input gradient T×in×out and weight gradient out×in×T belong to T×out×in.
GemmKernel forward_product(const GemmKernel& kernel) {
    GemmKernel forward = kernel;
    switch (kernel.layout) {
        case GemmLayout::TN:
            break;
        case GemmLayout::NN:
            forward.n = kernel.k;
            forward.k = kernel.n;
            break;
        case GemmLayout::NT:
            forward.m = kernel.k;
            forward.n = kernel.m;
            forward.k = kernel.n;
            break;
    }
    return forward;
}

}  // namespace

std::optional<FlopPerSecond> peak_of(const GpuProfile& gpu, Dtype dtype) {
    for (const Dtype candidate : {dtype, family_of(dtype)}) {
        if (const auto found = gpu.peak.find(candidate); found != gpu.peak.end()) {
            return found->second;
        }
    }
    return std::nullopt;
}

Seconds gemm_closed_form(const GemmFit& fit, const Ceilings& ceilings, const GemmKernel& kernel) {
    double flop = kernel_flop(kernel).si();
    if (kernel.batch > 1) {
        flop *= rounded_up(kernel.m, kTile) / static_cast<double>(kernel.m) *
                (rounded_up(kernel.n, kTile) / static_cast<double>(kernel.n));
    }
    const double bytes = (kernel_bytes_read(kernel) + kernel_bytes_written(kernel)).si();
    const double a = flop / (fit.flop_efficiency * ceilings.peak.si());
    const double b = bytes / (fit.byte_efficiency * ceilings.hbm.si());
    const double most = std::max(a, b);
    const double least = std::min(a, b);
    // (a^q + b^q)^(1/q) with the larger factored out, so that nothing under- or overflows.
    return fit.t0 + Seconds(most * std::pow(1.0 + std::pow(least / most, fit.q), 1.0 / fit.q));
}

double wave_factor(const GemmKernel& kernel, std::int64_t sms) {
    constexpr std::array<std::array<std::int64_t, 2>, 3> kTiles{
        {{128, 256}, {256, 128}, {128, 128}}};
    constexpr double kSmallTile = 1.1;
    constexpr double kMost = 4.0;
    double best = kMost;
    for (const auto& [rows, columns] : kTiles) {
        const std::int64_t tiles =
            ((kernel.m + rows - 1) / rows) * ((kernel.n + columns - 1) / columns);
        const std::int64_t slots = (tiles + sms - 1) / sms * sms;
        const double padded = static_cast<double>(slots * rows * columns) /
                              (static_cast<double>(kernel.m) * static_cast<double>(kernel.n));
        best = std::min(best, padded * (rows == columns ? kSmallTile : 1.0));
    }
    return best;
}

GemmTimes::GemmTimes(const GpuProfile& gpu)
    : layout_factor_(gpu.layout_factor),
      accumulate_factor_(gpu.accumulate_factor),
      sustained_(gpu.sustained) {
    for (const Dtype dtype : {Dtype::Fp32, Dtype::Bf16, Dtype::Fp16, Dtype::Fp8, Dtype::Fp8DynQuant,
                              Dtype::Fp8Block128, Dtype::Mxfp8, Dtype::Nvfp4}) {
        const auto peak = peak_of(gpu, dtype);
        const auto fit = fit_of(gpu, dtype);
        if (peak && fit) {
            families_[dtype] = {.fit = *fit,
                                .ceilings = {*peak, gpu.hbm_bandwidth},
                                .sms = fit->whole_waves ? gpu.sms : 0,
                                .aligned = {},
                                .all = {}};
        }
    }
    rows_.reserve(gpu.gemm_table.size());
    for (const GemmPoint& point : gpu.gemm_table) {
        rows_.push_back({table_shape(point.shape), point.time, 0, is_aligned(point.shape)});
    }
    std::ranges::stable_sort(rows_, {}, &Row::shape);
    const auto repeated = std::ranges::unique(rows_, {}, &Row::shape);
    rows_.erase(repeated.begin(), repeated.end());
    for (Row& row : rows_) {
        const auto family = families_.find(row.shape.dtype);
        if (family == families_.end()) {
            continue;
        }
        const double residual = std::log(row.time / expected(family->second, row.shape));
        family->second.all.add(coordinates(row.shape), residual);
        if (row.is_aligned) {
            row.aligned_index = family->second.aligned.size();
            family->second.aligned.add(coordinates(row.shape), residual);
        }
    }
}

Seconds GemmTimes::expected(const Family& family, const GemmKernel& kernel) {
    const Seconds fitted = gemm_closed_form(family.fit, family.ceilings, kernel);
    return family.sms > 0 ? fitted * wave_factor(kernel, family.sms) : fitted;
}

KernelTime GemmTimes::burst(const GemmKernel& kernel) const {
    GemmKernel shape = table_shape(kernel);
    if (shape.dtype == Dtype::Fp16) {
        shape.dtype = Dtype::Bf16;
    }
    const auto family = families_.find(shape.dtype);
    ORRERY_ASSERT(family != families_.end(),
                  "a profile has a fit and a peak for every format it is asked");
    if (kernel.batch == 1) {
        const auto row = std::ranges::lower_bound(rows_, shape, {}, &Row::shape);
        if (row != rows_.end() && row->shape == shape) {
            return {row->time, TimeSource::Measured, kMeasuredSigma};
        }
        const NearPoints& points = is_aligned(shape) ? family->second.aligned : family->second.all;
        if (const auto near = points.estimate(coordinates(shape))) {
            return {expected(family->second, shape) * std::exp(near->residual),
                    TimeSource::Interpolated, std::hypot(near->sigma, kMeasuredSigma)};
        }
    }
    shape.batch = kernel.batch;
    const GemmFit& fit = family->second.fit;
    return {gemm_closed_form(fit, family->second.ceilings, shape), TimeSource::Roofline, fit.sigma};
}

KernelTime GemmTimes::time(const GemmKernel& kernel) const {
    KernelTime result = burst(forward_product(kernel));
    double factor = layout_factor_[static_cast<std::size_t>(kernel.layout)];
    if (kernel.accumulate) {
        factor *= accumulate_factor_;
    }
    if (kernel.layout != GemmLayout::TN || kernel.accumulate) {
        if (result.source == TimeSource::Measured) {
            result.source = TimeSource::Interpolated;
        }
        result.sigma = std::hypot(result.sigma, kLayoutSigma);
    }
    if (kernel_flop(kernel).si() >= kSustainedFlop) {
        factor *= sustained_;
    }
    result.time = result.time * factor;
    return result;
}

std::vector<double> GemmTimes::leave_one_out(Dtype dtype, std::int64_t least_dimension) const {
    std::vector<double> residuals;
    const auto family = families_.find(dtype);
    if (family == families_.end()) {
        return residuals;
    }
    for (const Row& row : rows_) {
        const GemmKernel& shape = row.shape;
        if (shape.dtype != dtype || !row.is_aligned ||
            std::min({shape.m, shape.n, shape.k}) < least_dimension) {
            continue;
        }
        const auto near = family->second.aligned.estimate(coordinates(shape), row.aligned_index);
        if (near) {
            residuals.push_back(std::log(row.time / expected(family->second, shape)) -
                                near->residual);
        }
    }
    return residuals;
}

}  // namespace orrery
