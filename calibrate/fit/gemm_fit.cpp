// SPDX-License-Identifier: Apache-2.0
#include "calibrate/fit/gemm_fit.hpp"

#include "base/assert.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>

namespace orrery {
namespace {

bool is_aligned(const GemmKernel& shape) {
    return shape.m % 64 == 0 && shape.n % 64 == 0 && shape.k % 64 == 0;
}

std::vector<GemmPoint> aligned_points(const std::vector<GemmPoint>& points, Dtype dtype,
                                      std::int64_t least_dimension) {
    std::vector<GemmPoint> chosen;
    std::ranges::copy_if(points, std::back_inserter(chosen), [&](const GemmPoint& point) {
        return point.shape.dtype == dtype && is_aligned(point.shape) &&
               std::min({point.shape.m, point.shape.n, point.shape.k}) >= least_dimension;
    });
    return chosen;
}

/// x = (ln t0 in µs, ln e, ln e_b, ln(q − 1)): every value of x is a valid fit.
GemmFit fit_from(const std::vector<double>& x) {
    return {.t0 = Seconds(std::exp(x[0]) * 1e-6),
            .flop_efficiency = std::exp(x[1]),
            .byte_efficiency = std::exp(x[2]),
            .q = 1.0 + std::exp(x[3]),
            .sigma = 0.0};
}

std::vector<double> residuals_of(const GemmFit& fit, const std::vector<GemmPoint>& points,
                                 const Ceilings& ceilings) {
    std::vector<double> residuals;
    residuals.reserve(points.size());
    for (const GemmPoint& point : points) {
        residuals.push_back(std::log(point.time / gemm_closed_form(fit, ceilings, point.shape)));
    }
    return residuals;
}

/// The forward product that a row belongs to.
using Forward = std::array<std::int64_t, 3>;

struct Triple {
    double forward = 0.0;
    double input = 0.0;
    double weight_fp32 = 0.0;
    double weight_bf16 = 0.0;
};

double geometric_mean(const std::vector<double>& logs) {
    double sum = 0.0;
    for (const double value : logs) {
        sum += value;
    }
    return logs.empty() ? 1.0 : std::exp(sum / static_cast<double>(logs.size()));
}

Expected<std::map<Forward, Triple>> read_triples(const CsvTable& table) {
    ORRERY_TRY(columns, table.require({"m", "n", "k", "layout", "out_dtype", "time_us"}));
    std::map<Forward, Triple> triples;
    for (std::size_t row = 0; row < table.rows(); ++row) {
        const auto m = table.integer(row, columns[0]);
        const auto n = table.integer(row, columns[1]);
        const auto k = table.integer(row, columns[2]);
        const auto time = table.number(row, columns[5]);
        if (!m || !n || !k || !time || *time <= 0.0) {
            return fail({.file = table.file(),
                         .line = table.line(row),
                         .message = "expected a shape and a time above 0",
                         .hint = {}});
        }
        const std::string_view layout = table.cell(row, columns[3]);
        if (layout == "TN") {
            triples[{*m, *n, *k}].forward = *time;
        } else if (layout == "NN") {
            triples[{*m, *k, *n}].input = *time;
        } else if (table.cell(row, columns[4]) == "fp32") {
            triples[{*k, *m, *n}].weight_fp32 = *time;
        } else {
            triples[{*k, *m, *n}].weight_bf16 = *time;
        }
    }
    return triples;
}

}  // namespace

GemmFit fit_gemm(const std::vector<GemmPoint>& points, Dtype dtype, const Ceilings& ceilings) {
    const std::vector<GemmPoint> chosen = aligned_points(points, dtype, 1);
    ORRERY_ASSERT(!chosen.empty(), "a fit needs measurements");
    const auto objective = [&](const std::vector<double>& x) {
        double sum = 0.0;
        for (const double residual : residuals_of(fit_from(x), chosen, ceilings)) {
            sum += std::abs(residual);
        }
        return sum / static_cast<double>(chosen.size());
    };
    const std::vector<double> start{std::log(3.0), std::log(0.75), std::log(0.8), std::log(1.5)};
    GemmFit fit = fit_from(minimise(objective, start, {0.3, 0.1, 0.1, 0.4}, 700));
    fit.sigma = quality_of(residuals_of(fit, chosen, ceilings)).sigma;
    return fit;
}

FitQuality gemm_quality(const GemmFit& fit, const std::vector<GemmPoint>& points, Dtype dtype,
                        const Ceilings& ceilings, std::int64_t least_dimension) {
    return quality_of(residuals_of(fit, aligned_points(points, dtype, least_dimension), ceilings));
}

Expected<LayoutFactors> fit_layouts(const CsvTable& table, double known_accumulate) {
    ORRERY_TRY(triples, read_triples(table));
    std::vector<double> input;
    std::vector<double> weight_fp32;
    std::vector<double> weight_bf16;
    std::vector<double> both;
    for (const auto& [shape, times] : triples) {
        if (times.forward <= 0.0) {
            continue;
        }
        if (times.input > 0.0) {
            input.push_back(std::log(times.input / times.forward));
        }
        if (times.weight_fp32 > 0.0) {
            weight_fp32.push_back(std::log(times.weight_fp32 / times.forward));
        }
        if (times.weight_bf16 > 0.0) {
            weight_bf16.push_back(std::log(times.weight_bf16 / times.forward));
        }
        if (times.weight_bf16 > 0.0 && times.weight_fp32 > 0.0) {
            both.push_back(std::log(times.weight_fp32 / times.weight_bf16));
        }
    }
    if (input.empty() || weight_fp32.empty()) {
        return fail({.file = table.file(),
                     .message = "no forward product has both of its gradients in the table",
                     .hint = {}});
    }
    LayoutFactors factors;
    factors.has_accumulate = !both.empty();
    factors.accumulate = both.empty() ? known_accumulate : geometric_mean(both);
    factors.input_gradient = geometric_mean(input);
    factors.weight_gradient = geometric_mean(weight_fp32) / factors.accumulate;
    std::vector<double> spread = input;
    spread.insert(spread.end(), weight_fp32.begin(), weight_fp32.end());
    factors.sigma = quality_of(spread).sigma;
    return factors;
}

double sustained_ratio(const std::vector<GemmPoint>& burst, const std::vector<GemmPoint>& sustained,
                       Dtype dtype) {
    std::map<GemmKernel, Seconds> times;
    for (const GemmPoint& point : burst) {
        times[point.shape] = point.time;
    }
    std::vector<double> ratios;
    for (const GemmPoint& point : sustained) {
        const auto found = times.find(point.shape);
        if (point.shape.dtype == dtype && found != times.end() &&
            kernel_flop(point.shape).si() >= kSustainedFlop) {
            ratios.push_back(point.time / found->second);
        }
    }
    return ratios.empty() ? 1.0 : median(ratios);
}

}  // namespace orrery
