// SPDX-License-Identifier: Apache-2.0
#include "calibrate/fit/nelder_mead.hpp"

#include "base/assert.hpp"

#include <algorithm>
#include <cmath>

namespace orrery {
namespace {

using Objective = std::function<double(const std::vector<double>&)>;

struct Vertex {
    std::vector<double> x;
    double value = 0.0;
};

/// centre + factor · (x − centre).
std::vector<double> along(const std::vector<double>& centre, const std::vector<double>& x,
                          double factor) {
    std::vector<double> result(centre.size());
    for (std::size_t i = 0; i < centre.size(); ++i) {
        result[i] = centre[i] + factor * (x[i] - centre[i]);
    }
    return result;
}

std::vector<double> centre_of_all_but_last(const std::vector<Vertex>& simplex) {
    std::vector<double> centre(simplex.front().x.size(), 0.0);
    for (std::size_t v = 0; v + 1 < simplex.size(); ++v) {
        for (std::size_t i = 0; i < centre.size(); ++i) {
            centre[i] += simplex[v].x[i] / static_cast<double>(centre.size());
        }
    }
    return centre;
}

/// One move of the simplex; it is sorted before and after. Returns evaluations made.
int move(const Objective& objective, std::vector<Vertex>& simplex) {
    const auto evaluate = [&](std::vector<double> x) {
        const double value = objective(x);
        return Vertex{std::move(x), std::isfinite(value) ? value : HUGE_VAL};
    };
    int evaluations = 1;
    Vertex& worst = simplex.back();
    const std::vector<double> centre = centre_of_all_but_last(simplex);
    Vertex reflected = evaluate(along(centre, worst.x, -1.0));
    if (reflected.value < simplex.front().value) {
        Vertex expanded = evaluate(along(centre, worst.x, -2.0));
        ++evaluations;
        worst = expanded.value < reflected.value ? std::move(expanded) : std::move(reflected);
    } else if (reflected.value < simplex[simplex.size() - 2].value) {
        worst = std::move(reflected);
    } else {
        Vertex contracted = evaluate(along(centre, worst.x, 0.5));
        ++evaluations;
        if (contracted.value < worst.value) {
            worst = std::move(contracted);
        } else {
            for (std::size_t v = 1; v < simplex.size(); ++v) {
                simplex[v] = evaluate(along(simplex.front().x, simplex[v].x, 0.5));
                ++evaluations;
            }
        }
    }
    std::ranges::stable_sort(simplex, {}, &Vertex::value);
    return evaluations;
}

}  // namespace

std::vector<double> minimise(const Objective& objective, std::vector<double> start,
                             const std::vector<double>& step, int most_evaluations) {
    ORRERY_ASSERT(!start.empty() && start.size() == step.size(),
                  "a simplex has an edge a dimension");
    for (int round = 0; round < 2; ++round) {
        std::vector<Vertex> simplex{{start, objective(start)}};
        for (std::size_t i = 0; i < start.size(); ++i) {
            std::vector<double> x = start;
            x[i] += step[i] / (round == 0 ? 1.0 : 4.0);
            simplex.push_back({x, objective(x)});
        }
        std::ranges::stable_sort(simplex, {}, &Vertex::value);
        int evaluations = 0;
        while (evaluations < most_evaluations / 2 &&
               simplex.back().value - simplex.front().value >
                   1e-10 * std::abs(simplex.front().value) + 1e-14) {
            evaluations += move(objective, simplex);
        }
        start = simplex.front().x;
    }
    return start;
}

FitQuality quality_of(const std::vector<double>& log_residuals) {
    FitQuality quality{.mean_error = 0.0, .sigma = 0.0, .points = log_residuals.size()};
    if (log_residuals.empty()) {
        return quality;
    }
    const auto count = static_cast<double>(log_residuals.size());
    double mean = 0.0;
    for (const double residual : log_residuals) {
        quality.mean_error += std::abs(std::exp(-residual) - 1.0) / count;
        mean += residual / count;
    }
    double squares = 0.0;
    for (const double residual : log_residuals) {
        squares += (residual - mean) * (residual - mean);
    }
    quality.sigma = std::sqrt(squares / count);
    return quality;
}

double median(std::vector<double> values) {
    ORRERY_ASSERT(!values.empty(), "nothing has no middle");
    std::ranges::sort(values);
    const std::size_t half = values.size() / 2;
    return values.size() % 2 == 1 ? values[half] : 0.5 * (values[half - 1] + values[half]);
}

}  // namespace orrery
