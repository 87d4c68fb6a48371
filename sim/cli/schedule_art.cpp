// SPDX-License-Identifier: Apache-2.0
#include "cli/schedule_art.hpp"

#include "report/layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace orrery {

namespace {

/// Columns that let every name stand in its box with a space behind it.
double ideal_columns(const PipelineOrder& order, const OrderTiming& timing) {
    double per_time = 0.0;
    for (const auto& rank : timing.passes) {
        for (const TimedPass& timed : rank) {
            const double duration = timed.end - timed.start;
            if (duration > 0.0) {
                const auto name = to_string(timed.pass, order.virtual_stages > 1).size();
                per_time = std::max(per_time, static_cast<double>(name + 1) / duration);
            }
        }
    }
    return timing.makespan * per_time;
}

Colour colour_of(PassKind kind) {
    switch (kind) {
        case PassKind::Forward:
            return Colour::Cyan;
        case PassKind::InputGradient:
        case PassKind::Backward:
            return Colour::Green;
        case PassKind::WeightGradient:
            return Colour::Yellow;
    }
    return Colour::None;
}

std::string box(const TimedPass& timed, bool with_chunk, std::size_t columns) {
    std::string name = to_string(timed.pass, with_chunk);
    if (name.size() > columns) {
        name = to_string(timed.pass, false);
    }
    if (name.size() > columns) {
        name.resize(1);
    }
    std::string text = name;
    for (std::size_t i = name.size(); i < columns; ++i) {
        text += i + 1 == columns ? " " : "─";
    }
    return text;
}

}  // namespace

std::string draw_schedule(const PipelineOrder& order, const OrderTiming& timing, int width,
                          bool with_colour) {
    const Painter paint(with_colour);
    const std::string prefix =
        fmt::format("stage {:>{}}  ", 0, std::to_string(order.stages - 1).size());
    const double room =
        std::max(20.0, static_cast<double>(width) - static_cast<double>(prefix.size()));
    const double total = std::ceil(std::min(room, ideal_columns(order, timing)));
    const double scale = timing.makespan > 0.0 ? total / timing.makespan : 0.0;
    const auto column = [&](double time) {
        return static_cast<std::size_t>(std::lround(time * scale));
    };

    std::string text;
    for (std::size_t rank = 0; rank < timing.passes.size(); ++rank) {
        text += fmt::format("stage {:>{}}  ", rank, std::to_string(order.stages - 1).size());
        std::size_t at = 0;
        const auto idle_until = [&](std::size_t until) {
            std::string dots;
            for (; at < until; ++at) {
                dots += "·";
            }
            text += paint(dots.empty() ? Colour::None : Colour::Dim, dots);
        };
        for (const TimedPass& timed : timing.passes[rank]) {
            const std::size_t begin = std::max(at, column(timed.start));
            const std::size_t end = column(timed.end);
            if (end > begin) {
                idle_until(begin);
                text += paint(colour_of(timed.pass.kind),
                              box(timed, order.virtual_stages > 1, end - begin));
                at = end;
            }
        }
        idle_until(column(timing.makespan));
        text += '\n';
    }
    if (const double ideal = ideal_columns(order, timing); ideal > total) {
        text += fmt::format(
            "drawn {:.1f} times narrower than its names need, which are cut to fit; "
            "--json lists every pass\n",
            ideal / total);
    }
    return text;
}

}  // namespace orrery
