// SPDX-License-Identifier: Apache-2.0
#include "cost/attention_time.hpp"

#include "base/assert.hpp"

#include <algorithm>
#include <cmath>

namespace orrery {
namespace {

constexpr std::int64_t kBlock = 128;
constexpr double kNarrowHeadPower = 0.5;
constexpr double kWideHeadPower = 0.18;
/// Executed products of the backward over those that are counted.
constexpr double kBackwardExecuted = 1.25;
/// A backward that follows a measured forward is this much less sure.
constexpr double kBackwardSigma = 0.10;
/// Key and value heads change little: octaves of grouping count a quarter.
constexpr double kGroupingScale = 0.25;

double grouping(const AttentionKernel& kernel) {
    return kGroupingScale *
           std::log2(static_cast<double>(kernel.heads_q) / static_cast<double>(kernel.heads_kv));
}

NearPoints::Coordinates coordinates(const AttentionKernel& kernel) {
    return {std::log2(static_cast<double>(kernel.batch * kernel.heads_q)),
            std::log2(static_cast<double>(kernel.seq)), grouping(kernel)};
}

AttentionKernel table_shape(AttentionKernel kernel) {
    if (kernel.dtype == Dtype::Fp16) {
        kernel.dtype = Dtype::Bf16;
    }
    if (kernel.window >= kernel.seq) {
        kernel.window = 0;
    }
    return kernel;
}

}  // namespace

Seconds attention_closed_form(const AttentionFit& fit, FlopPerSecond peak, std::int64_t sms,
                              const AttentionKernel& kernel) {
    const bool is_windowed = kernel.window > 0 && kernel.window < kernel.seq;
    const auto seen = static_cast<double>(is_windowed ? kernel.window : kernel.seq);
    const double length = kernel.causal ? seen : 2.0 * seen;
    const std::int64_t blocks =
        kernel.batch * kernel.heads_q * ((kernel.seq + kBlock - 1) / kBlock);
    const std::int64_t waves = (blocks + sms - 1) / sms;
    const double occupancy = static_cast<double>(blocks) / static_cast<double>(waves * sms);
    const double width =
        std::min(2.0, static_cast<double>(kernel.head_dim_qk + kernel.head_dim_v) / 256.0);
    double efficiency = fit.e_inf * length / (length + fit.s_half) * occupancy *
                        std::pow(width, width < 1.0 ? kNarrowHeadPower : kWideHeadPower);
    double flop = kernel_flop(kernel).si();
    if (kernel.pass == KernelPass::Backward) {
        flop *= kBackwardExecuted;
        efficiency *= fit.backward_efficiency;
    }
    return fit.t0 + Seconds(flop / (efficiency * peak.si()));
}

AttentionTimes::AttentionTimes(const GpuProfile& gpu)
    : fits_(gpu.attention), sms_(std::max<std::int64_t>(gpu.sms, 1)) {
    for (const Dtype dtype : {Dtype::Bf16, Dtype::Fp16, Dtype::Fp8, Dtype::Mxfp8,
                              Dtype::Fp8Block128, Dtype::Fp8DynQuant, Dtype::Nvfp4, Dtype::Fp32}) {
        if (const auto peak = peak_of(gpu, dtype)) {
            peaks_[dtype] = *peak;
        }
    }
    if (fits_.empty()) {
        return;
    }
    for (const AttentionPoint& point : gpu.attention_table) {
        rows_.push_back({table_shape(point.shape), point.time});
    }
    std::ranges::stable_sort(rows_, {}, &AttentionPoint::shape);
    const auto repeated = std::ranges::unique(rows_, {}, &AttentionPoint::shape);
    rows_.erase(repeated.begin(), repeated.end());
    for (const AttentionPoint& row : rows_) {
        const auto [place, is_new] = families_.try_emplace(key_of(row.shape));
        Family& family = place->second;
        const double at = grouping(row.shape);
        family.least_grouping = is_new ? at : std::min(family.least_grouping, at);
        family.most_grouping = is_new ? at : std::max(family.most_grouping, at);
        family.points.add(coordinates(row.shape), std::log(row.time / closed_form(row.shape)));
    }
}

AttentionTimes::Key AttentionTimes::key_of(const AttentionKernel& kernel) {
    return {kernel.head_dim_qk, kernel.head_dim_v, kernel.causal, kernel.dtype, kernel.pass};
}

const AttentionFit& AttentionTimes::fit_of(Dtype dtype) const {
    for (const Dtype candidate : {dtype, Dtype::Bf16}) {
        if (const auto found = fits_.find(candidate); found != fits_.end()) {
            return found->second;
        }
    }
    ORRERY_ASSERT(!fits_.empty(), "a profile has an attention fit before attention is timed");
    return fits_.begin()->second;
}

Seconds AttentionTimes::closed_form(const AttentionKernel& kernel) const {
    // Without a fit of its own a narrower format runs attention at bf16's rate.
    const Dtype rate = fits_.contains(kernel.dtype) ? kernel.dtype : Dtype::Bf16;
    const auto peak = peaks_.find(rate);
    ORRERY_ASSERT(peak != peaks_.end(), "a profile has a peak for each of its attention fits");
    return attention_closed_form(fit_of(kernel.dtype), peak->second, sms_, kernel);
}

std::optional<KernelTime> AttentionTimes::from_table(const AttentionKernel& kernel) const {
    if (kernel.window > 0) {
        return std::nullopt;
    }
    const auto row = std::ranges::lower_bound(rows_, kernel, {}, &AttentionPoint::shape);
    if (row != rows_.end() && row->shape == kernel) {
        return KernelTime{row->time, TimeSource::Measured, kMeasuredSigma};
    }
    const auto family = families_.find(key_of(kernel));
    if (family == families_.end()) {
        return std::nullopt;
    }
    NearPoints::Coordinates x = coordinates(kernel);
    x[2] = std::clamp(x[2], family->second.least_grouping, family->second.most_grouping);
    const auto near = family->second.points.estimate(x);
    if (!near) {
        return std::nullopt;
    }
    return KernelTime{closed_form(kernel) * std::exp(near->residual), TimeSource::Interpolated,
                      std::hypot(near->sigma, kMeasuredSigma)};
}

KernelTime AttentionTimes::time(const AttentionKernel& asked) const {
    const AttentionKernel kernel = table_shape(asked);
    if (const auto measured = from_table(kernel)) {
        return *measured;
    }
    const Seconds closed = closed_form(kernel);
    const double sigma = fit_of(kernel.dtype).sigma;
    if (kernel.pass == KernelPass::Backward) {
        AttentionKernel forward = kernel;
        forward.pass = KernelPass::Forward;
        if (const auto measured = from_table(forward)) {
            return {closed * (measured->time / closed_form(forward)), TimeSource::Roofline,
                    std::hypot(measured->sigma, kBackwardSigma)};
        }
    }
    return {closed, TimeSource::Roofline, sigma};
}

std::vector<double> AttentionTimes::leave_one_out(KernelPass pass) const {
    std::vector<double> residuals;
    std::map<Key, std::size_t> next;
    for (const AttentionPoint& row : rows_) {
        const Key key = key_of(row.shape);
        const std::size_t index = next[key]++;
        if (row.shape.pass != pass) {
            continue;
        }
        const auto near = families_.at(key).points.estimate(coordinates(row.shape), index);
        if (near) {
            residuals.push_back(std::log(row.time / closed_form(row.shape)) - near->residual);
        }
    }
    return residuals;
}

}  // namespace orrery
