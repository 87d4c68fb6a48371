// SPDX-License-Identifier: Apache-2.0
#include "calibrate/fit/collective_fit.hpp"

#include "base/assert.hpp"

#include <algorithm>
#include <cmath>

namespace orrery {
namespace {

constexpr double kMebibyte = 1048576.0;

/// x = (ln base in µs, ln step in µs, ln bandwidth in GB/s).
CollectiveFit fit_from(const std::vector<double>& x) {
    return {.base = Seconds(std::exp(x[0]) * 1e-6),
            .step = Seconds(std::exp(x[1]) * 1e-6),
            .bus_bandwidth = BytesPerSecond(std::exp(x[2]) * 1e9),
            .sigma = 0.0};
}

}  // namespace

Expected<std::vector<CollectivePoint>> read_collectives(const CsvTable& table) {
    ORRERY_TRY(columns, table.require({"op", "nranks", "nodes", "bytes", "time_us", "dtype",
                                       "fabric", "nvls", "source"}));
    std::vector<CollectivePoint> points;
    Diagnostics errors;
    for (std::size_t row = 0; row < table.rows(); ++row) {
        const auto ranks = table.integer(row, columns[1]);
        const auto nodes = table.integer(row, columns[2]);
        const auto bytes = table.number(row, columns[3]);
        const auto time = table.number(row, columns[4]);
        if (!ranks || !nodes || !bytes || !time || *ranks < 2 || *nodes < 1 || *bytes < 1.0 ||
            *time <= 0.0) {
            errors.push_back(
                {.file = table.file(),
                 .line = table.line(row),
                 .message = "expected at least 2 ranks, 1 node, 1 byte and a time above 0",
                 .hint = {}});
            continue;
        }
        points.push_back({.op = std::string(table.cell(row, columns[0])),
                          .ranks = *ranks,
                          .nodes = *nodes,
                          .size = Bytes(*bytes),
                          .time = Seconds(*time * 1e-6),
                          .fabric = std::string(table.cell(row, columns[6])),
                          .dtype = std::string(table.cell(row, columns[5])),
                          .source = std::string(table.cell(row, columns[8])),
                          .nvls = table.cell(row, columns[7]) != "off"});
    }
    if (!errors.empty()) {
        return fail(std::move(errors));
    }
    return points;
}

double collective_steps(const std::string& op, std::int64_t ranks) {
    if (op == "send_recv") {
        return 1.0;
    }
    const auto n = static_cast<double>(ranks);
    return op == "all_reduce" ? 2.0 * (n - 1.0) : n - 1.0;
}

double collective_wire(const std::string& op, std::int64_t ranks) {
    const auto n = static_cast<double>(ranks);
    if (op == "all_reduce") {
        return 2.0 * (n - 1.0) / n;
    }
    return op == "broadcast" || op == "send_recv" ? 1.0 : (n - 1.0) / n;
}

Seconds collective_closed_form(const CollectiveFit& fit, const CollectivePoint& point) {
    return fit.base + fit.step * collective_steps(point.op, point.ranks) +
           point.size * collective_wire(point.op, point.ranks) / fit.bus_bandwidth;
}

CollectiveFit fit_collective(const std::vector<CollectivePoint>& points, const std::string& op) {
    std::vector<CollectivePoint> chosen;
    std::ranges::copy_if(points, std::back_inserter(chosen), [&](const CollectivePoint& point) {
        return point.op == op && point.nodes == 1 && point.nvls;
    });
    ORRERY_ASSERT(!chosen.empty(), "a fit needs measurements");
    const std::int64_t most = std::ranges::max(chosen, {}, &CollectivePoint::ranks).ranks;
    const auto objective = [&](const std::vector<double>& x) {
        const CollectiveFit fit = fit_from(x);
        double sum = 0.0;
        double weights = 0.0;
        for (const CollectivePoint& point : chosen) {
            const double size = point.size.si();
            const double weight = (size >= 16.0 * kMebibyte ? 6.0
                                   : size >= kMebibyte      ? 2.0
                                                            : 1.0) *
                                  (point.ranks == most ? 2.0 : 1.0);
            sum += weight * std::abs(std::log(point.time / collective_closed_form(fit, point)));
            weights += weight;
        }
        return sum / weights;
    };
    const std::vector<double> start{std::log(6.0), std::log(0.8), std::log(300.0)};
    CollectiveFit fit = fit_from(minimise(objective, start, {0.4, 0.4, 0.3}, 1200));
    fit.sigma = collective_quality(fit, chosen, op).sigma;
    return fit;
}

FitQuality collective_quality(const CollectiveFit& fit, const std::vector<CollectivePoint>& points,
                              const std::string& op) {
    std::vector<double> residuals;
    for (const CollectivePoint& point : points) {
        if (point.op == op) {
            residuals.push_back(std::log(point.time / collective_closed_form(fit, point)));
        }
    }
    return quality_of(residuals);
}

}  // namespace orrery
