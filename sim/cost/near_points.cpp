// SPDX-License-Identifier: Apache-2.0
#include "cost/near_points.hpp"

#include <algorithm>
#include <cmath>

namespace orrery {
namespace {

constexpr double kOctave = 1.0 + 1e-9;
constexpr double kExact = 1e-9;
constexpr double kRidge = 0.02;
/// Where the weight reaches zero, in octaves: the corner of the unit cube lies at √3.
constexpr double kReach = 1.8;
/// Beyond this many neighbours only the nearest count.
constexpr std::size_t kMostNeighbours = 32;

double squared(const NearPoints::Coordinates& d) {
    return d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
}

/// Solves the symmetric positive 4×4 system a·c = b by elimination and returns c[0 … 3].
std::array<double, 4> solve(std::array<std::array<double, 4>, 4> a, std::array<double, 4> b) {
    for (std::size_t i = 0; i < 4; ++i) {
        const double pivot = std::max(a[i][i], 1e-12);
        for (std::size_t row = i + 1; row < 4; ++row) {
            const double factor = a[row][i] / pivot;
            for (std::size_t col = i; col < 4; ++col) {
                a[row][col] -= factor * a[i][col];
            }
            b[row] -= factor * b[i];
        }
    }
    std::array<double, 4> c{};
    for (std::size_t i = 4; i-- > 0;) {
        double rest = b[i];
        for (std::size_t col = i + 1; col < 4; ++col) {
            rest -= a[i][col] * c[col];
        }
        c[i] = rest / std::max(a[i][i], 1e-12);
    }
    return c;
}

}  // namespace

std::size_t NearPoints::CellHash::operator()(const Cell& cell) const {
    std::size_t hash = 1469598103934665603ULL;
    for (const std::int32_t part : cell) {
        hash =
            (hash ^ static_cast<std::size_t>(static_cast<std::uint32_t>(part))) * 1099511628211ULL;
    }
    return hash;
}

void NearPoints::add(const Coordinates& x, double residual) {
    Cell cell{};
    for (std::size_t i = 0; i < 3; ++i) {
        least_[i] = points_.empty() ? x[i] : std::min(least_[i], x[i]);
        most_[i] = points_.empty() ? x[i] : std::max(most_[i], x[i]);
        cell[i] = static_cast<std::int32_t>(std::floor(x[i]));
    }
    cells_[cell].push_back(static_cast<std::uint32_t>(points_.size()));
    points_.push_back({x, residual});
}

std::vector<NearPoints::Neighbour> NearPoints::neighbours(const Coordinates& x,
                                                          std::optional<std::size_t> skip) const {
    std::vector<Neighbour> found;
    Cell at{};
    for (std::size_t i = 0; i < 3; ++i) {
        at[i] = static_cast<std::int32_t>(std::floor(x[i]));
    }
    for (int offset = 0; offset < 27; ++offset) {
        const auto bucket = cells_.find(
            {at[0] + offset / 9 - 1, at[1] + offset / 3 % 3 - 1, at[2] + offset % 3 - 1});
        if (bucket == cells_.end()) {
            continue;
        }
        for (const std::uint32_t index : bucket->second) {
            if (skip && *skip == index) {
                continue;
            }
            const Point& point = points_[index];
            const Coordinates d{point.x[0] - x[0], point.x[1] - x[1], point.x[2] - x[2]};
            if (std::ranges::all_of(d, [](double part) { return std::abs(part) <= kOctave; })) {
                found.push_back({d, point.residual, squared(d)});
            }
        }
    }
    // Ties are broken by coordinates, so that the order of the table cannot reach the answer.
    std::ranges::sort(found, [](const Neighbour& a, const Neighbour& b) {
        return a.weight != b.weight ? a.weight < b.weight : a.d < b.d;
    });
    return found;
}

std::optional<NearPoints::Estimate> NearPoints::estimate(const Coordinates& x,
                                                         std::optional<std::size_t> skip) const {
    if (points_.empty()) {
        return std::nullopt;
    }
    for (std::size_t i = 0; i < 3; ++i) {
        if (x[i] < least_[i] - kExact || x[i] > most_[i] + kExact) {
            return std::nullopt;
        }
    }
    std::vector<Neighbour> near = neighbours(x, skip);
    for (std::size_t i = 0; i < 3; ++i) {
        const bool below =
            std::ranges::any_of(near, [i](const auto& n) { return n.d[i] <= kExact; });
        const bool above =
            std::ranges::any_of(near, [i](const auto& n) { return n.d[i] >= -kExact; });
        if (near.size() < kLeast || !below || !above) {
            return std::nullopt;
        }
    }
    if (near.size() > kMostNeighbours) {
        near.resize(kMostNeighbours);
    }
    const double reach = std::min(kReach, 1.25 * std::sqrt(near.back().weight) + 1e-6);
    std::array<std::array<double, 4>, 4> a{};
    std::array<double, 4> b{};
    double total = 0.0;
    for (Neighbour& n : near) {
        const double closeness = std::max(0.0, 1.0 - n.weight / (reach * reach));
        n.weight = closeness * closeness;
        const std::array<double, 4> row{1.0, n.d[0], n.d[1], n.d[2]};
        for (std::size_t i = 0; i < 4; ++i) {
            for (std::size_t j = 0; j < 4; ++j) {
                a[i][j] += n.weight * row[i] * row[j];
            }
            b[i] += n.weight * row[i] * n.residual;
        }
        total += n.weight;
    }
    for (std::size_t i = 1; i < 4; ++i) {
        a[i][i] += kRidge * total;
    }
    const std::array<double, 4> c = solve(a, b);
    double spread = 0.0;
    for (const Neighbour& n : near) {
        const double plane = c[0] + c[1] * n.d[0] + c[2] * n.d[1] + c[3] * n.d[2];
        spread += n.weight * (n.residual - plane) * (n.residual - plane);
    }
    return Estimate{c[0], std::sqrt(spread / total)};
}

}  // namespace orrery
