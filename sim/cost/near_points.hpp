// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

namespace orrery {

/// Scattered measurements in three log2-coordinates, each with the residual ln(measured / closed
/// form). Estimates a residual between them by a plane through the neighbours (local linear
/// regression):
///   minimise Σ w·(r − c₀ − c·(x − x*))² + λ·|c|²·Σw,  w = (1 − (|x − x*|/R)²)²,  answer c₀;
/// the residual in efficiency is what is interpolated, so a closed form that is off by a constant
/// near a shape is mended there. Neighbours are within one octave in every coordinate.
class NearPoints {
  public:
    using Coordinates = std::array<double, 3>;

    struct Estimate {
        double residual = 0.0;
        double sigma = 0.0;  ///< weighted standard deviation of the neighbours about the plane
    };

    void add(const Coordinates& x, double residual);

    /// Nothing where `x` is outside the range of the points in any coordinate, where fewer than
    /// kLeast neighbours are within an octave, or where they do not stand on both sides of `x` in
    /// each coordinate (a coordinate met exactly needs no sides). `skip` leaves out the point at
    /// this index (for leave-one-out errors).
    [[nodiscard]] std::optional<Estimate> estimate(const Coordinates& x,
                                                   std::optional<std::size_t> skip = {}) const;

    [[nodiscard]] std::size_t size() const { return points_.size(); }

    static constexpr std::size_t kLeast = 3;

  private:
    struct Point {
        Coordinates x{};
        double residual = 0.0;
    };

    using Cell = std::array<std::int32_t, 3>;

    struct CellHash {
        std::size_t operator()(const Cell& cell) const;
    };

    struct Neighbour {
        Coordinates d{};
        double residual = 0.0;
        double weight = 0.0;
    };

    [[nodiscard]] std::vector<Neighbour> neighbours(const Coordinates& x,
                                                    std::optional<std::size_t> skip) const;

    std::vector<Point> points_;
    std::unordered_map<Cell, std::vector<std::uint32_t>, CellHash> cells_;
    Coordinates least_{};
    Coordinates most_{};
};

}  // namespace orrery
