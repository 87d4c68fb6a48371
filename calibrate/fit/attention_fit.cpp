// SPDX-License-Identifier: Apache-2.0
#include "calibrate/fit/attention_fit.hpp"

#include "base/assert.hpp"
#include "cost/attention_time.hpp"
#include "cost/measured_tables.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

namespace orrery {
namespace {

constexpr double kUsualBackward = 0.85;
/// Transformer Engine was timed with its launches: its shortest rows all take about 100 µs.
constexpr double kHostMicroseconds = 200.0;

std::optional<std::size_t> preference(std::string_view kernel,
                                      const std::vector<std::string>& preferred) {
    for (std::size_t i = 0; i < preferred.size(); ++i) {
        std::string_view wanted = preferred[i];
        const bool is_prefix = wanted.ends_with('*');
        wanted.remove_suffix(is_prefix ? 1 : 0);
        if (is_prefix ? kernel.starts_with(wanted) : kernel == wanted) {
            return i;
        }
    }
    return std::nullopt;
}

/// The table without the rows that the strict reader of profile tables refuses or nobody trains
/// with.
std::string csv_of_chosen(const CsvTable& table, const std::vector<std::size_t>& rows) {
    std::string text;
    const auto append = [&](auto&& cell) {
        for (std::size_t column = 0; column < table.columns().size(); ++column) {
            text += column == 0 ? "" : ",";
            text += "\"" + std::string(cell(column)) + "\"";
        }
        text += "\n";
    };
    append([&](std::size_t column) { return std::string_view(table.columns()[column]); });
    text.erase(std::remove(text.begin(), text.end(), '"'), text.end());
    for (const std::size_t row : rows) {
        append([&](std::size_t column) { return table.cell(row, column); });
    }
    return text;
}

/// A kernel takes no less than this to start and end; long kernels alone cannot tell.
constexpr double kLeastStart = 1.0;

/// x = (ln(t0 in µs above the least), ln e_inf, ln s_half).
AttentionFit fit_from(const std::vector<double>& x) {
    return {.t0 = Seconds((kLeastStart + std::exp(x[0])) * 1e-6),
            .e_inf = std::exp(x[1]),
            .s_half = std::exp(x[2]),
            .backward_efficiency = 1.0,
            .sigma = 0.0};
}

double residual(const AttentionFit& fit, const AttentionPoint& point,
                const AttentionTarget& target) {
    return std::log(point.time / attention_closed_form(fit, target.peak, target.sms, point.shape));
}

}  // namespace

Expected<std::vector<AttentionPoint>> choose_attention(const CsvTable& table,
                                                       const std::vector<std::string>& preferred) {
    ORRERY_TRY(columns, table.require({"pass", "kernel", "time_us"}));
    std::vector<std::size_t> rows;
    std::vector<std::size_t> ranks;
    for (std::size_t row = 0; row < table.rows(); ++row) {
        const auto rank = preference(table.cell(row, columns[1]), preferred);
        const bool is_host_bound = table.cell(row, columns[1]).starts_with("TE ") &&
                                   table.number(row, columns[2]).value_or(0.0) < kHostMicroseconds;
        if (rank && !is_host_bound && table.cell(row, columns[0]) != "fwdbwd") {
            rows.push_back(row);
            ranks.push_back(*rank);
        }
    }
    ORRERY_TRY(chosen, CsvTable::parse(csv_of_chosen(table, rows), table.file()));
    ORRERY_TRY(points, read_attention_points(chosen));
    std::map<AttentionKernel, std::pair<std::size_t, Seconds>> best;
    for (std::size_t i = 0; i < points.size(); ++i) {
        AttentionKernel shape = points[i].shape;
        shape.dtype = shape.dtype == Dtype::Fp16 ? Dtype::Bf16 : shape.dtype;
        const auto [place, is_new] = best.try_emplace(shape, ranks[i], points[i].time);
        if (!is_new && ranks[i] < place->second.first) {
            place->second = {ranks[i], points[i].time};
        }
    }
    std::vector<AttentionPoint> result;
    for (const auto& [shape, choice] : best) {
        result.push_back({shape, choice.second});
    }
    return result;
}

AttentionFit fit_attention(const std::vector<AttentionPoint>& points,
                           const AttentionTarget& target) {
    std::vector<AttentionPoint> forward;
    std::ranges::copy_if(points, std::back_inserter(forward), [&](const AttentionPoint& point) {
        return point.shape.dtype == target.dtype && point.shape.pass == KernelPass::Forward &&
               point.shape.causal && point.shape.head_dim_v == 128 &&
               point.shape.batch * point.shape.heads_q * point.shape.seq / 128 >= target.sms;
    });
    ORRERY_ASSERT(!forward.empty(), "an attention fit needs forward measurements");
    const auto objective = [&](const std::vector<double>& x) {
        const AttentionFit fit = fit_from(x);
        double sum = 0.0;
        for (const AttentionPoint& point : forward) {
            sum += std::abs(residual(fit, point, target));
        }
        return sum / static_cast<double>(forward.size());
    };
    const std::vector<double> start{std::log(8.0), std::log(0.64), std::log(600.0)};
    AttentionFit fit = fit_from(minimise(objective, start, {0.3, 0.1, 0.3}, 600));
    std::vector<double> backward;
    std::vector<double> spread;
    for (const AttentionPoint& point : points) {
        if (point.shape.dtype == target.dtype && point.shape.pass == KernelPass::Backward) {
            backward.push_back(std::exp(-residual(fit, point, target)));
        }
    }
    for (const AttentionPoint& point : forward) {
        spread.push_back(residual(fit, point, target));
    }
    fit.backward_efficiency = backward.empty() ? kUsualBackward : median(backward);
    fit.sigma = quality_of(spread).sigma;
    return fit;
}

Expected<double> backward_from_sums(const CsvTable& table, const std::string& kernel,
                                    const AttentionFit& fit, const AttentionTarget& target) {
    ORRERY_TRY(columns, table.require({"batch", "seq", "heads_q", "causal", "head_dim_qk", "pass",
                                       "time_us", "kernel"}));
    std::vector<double> ratios;
    for (std::size_t row = 0; row < table.rows(); ++row) {
        const auto batch = table.integer(row, columns[0]);
        const auto seq = table.integer(row, columns[1]);
        const auto heads = table.integer(row, columns[2]);
        const auto dimension = table.integer(row, columns[4]);
        const auto time = table.number(row, columns[6]);
        if (table.cell(row, columns[5]) != "fwdbwd" || table.cell(row, columns[7]) != kernel ||
            table.cell(row, columns[3]) != "1" || dimension != 128 || !batch || !seq || !heads ||
            !time) {
            continue;
        }
        const AttentionKernel shape{.batch = *batch,
                                    .seq = *seq,
                                    .heads_q = *heads,
                                    .heads_kv = *heads,
                                    .head_dim_qk = *dimension,
                                    .head_dim_v = *dimension};
        const Seconds forward = attention_closed_form(fit, target.peak, target.sms, shape);
        const Seconds backward = Seconds(*time * 1e-6) - forward;
        if (backward > forward) {
            ratios.push_back(2.5 * (forward / backward));
        }
    }
    return ratios.empty() ? kUsualBackward : median(ratios);
}

FitQuality attention_quality(const AttentionFit& fit, const std::vector<AttentionPoint>& points,
                             const AttentionTarget& target, KernelPass pass) {
    std::vector<double> residuals;
    for (const AttentionPoint& point : points) {
        if (point.shape.dtype == target.dtype && point.shape.pass == pass) {
            residuals.push_back(residual(fit, point, target));
        }
    }
    return quality_of(residuals);
}

}  // namespace orrery
