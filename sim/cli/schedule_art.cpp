// SPDX-License-Identifier: Apache-2.0
#include "cli/schedule_art.hpp"

#include "report/layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

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

/// One column of a row: a character, and its colour.
struct Cell {
    std::string glyph = "·";
    Colour colour = Colour::Dim;
};

/// The characters of UTF-8 text.
std::vector<std::string> glyphs(const std::string& text) {
    std::vector<std::string> found;
    for (const char c : text) {
        const bool continues = (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
        if (!continues || found.empty()) {
            found.emplace_back();
        }
        found.back() += c;
    }
    return found;
}

/// A rank's passes over `columns` columns, `scale` columns a unit of time.
std::vector<Cell> draw_row(const std::vector<TimedPass>& passes, bool with_chunk,
                           std::size_t columns, double scale) {
    std::vector<Cell> row(columns);
    std::size_t at = 0;
    for (const TimedPass& timed : passes) {
        const auto column = [&](double time) {
            return std::min(columns, static_cast<std::size_t>(std::lround(time * scale)));
        };
        const std::size_t begin = std::max(at, column(timed.start));
        const std::size_t end = column(timed.end);
        if (end > begin) {
            at = begin;
            for (std::string& glyph : glyphs(box(timed, with_chunk, end - begin))) {
                row[at++] = {std::move(glyph), colour_of(timed.pass.kind)};
            }
        }
    }
    return row;
}

/// Columns [from, to) of a row, runs of one colour painted together.
std::string paint_row(const Painter& paint, const std::vector<Cell>& row, std::size_t from,
                      std::size_t to) {
    std::string text;
    while (from < to) {
        const Colour colour = row[from].colour;
        std::string run;
        for (; from < to && row[from].colour == colour; ++from) {
            run += row[from].glyph;
        }
        text += paint(colour, run);
    }
    return text;
}

/// A drawing wider than the terminal goes on below, in at most this many strips.
constexpr double kMaxStrips = 6.0;

}  // namespace

std::string draw_schedule(const PipelineOrder& order, const OrderTiming& timing, int width,
                          bool with_colour) {
    const Painter paint(with_colour);
    const std::size_t digits = std::to_string(order.stages - 1).size();
    const double room =
        std::max(20.0, static_cast<double>(width) - static_cast<double>(8 + digits));
    const double ideal = ideal_columns(order, timing);
    const auto total = static_cast<std::size_t>(std::ceil(std::min(kMaxStrips * room, ideal)));
    const double scale = timing.makespan > 0.0 ? static_cast<double>(total) / timing.makespan : 0.0;
    const auto strip = static_cast<std::size_t>(room);

    std::vector<std::vector<Cell>> rows;
    for (const auto& passes : timing.passes) {
        rows.push_back(draw_row(passes, order.virtual_stages > 1, total, scale));
    }
    std::string text;
    for (std::size_t from = 0; from < total; from += strip) {
        const std::size_t to = std::min(total, from + strip);
        if (total > strip) {
            text += fmt::format("{}time {:.4g} to {:.4g}\n", from == 0 ? "" : "\n",
                                static_cast<double>(from) / scale, static_cast<double>(to) / scale);
        }
        for (std::size_t rank = 0; rank < rows.size(); ++rank) {
            text += fmt::format("stage {:>{}}  ", rank, digits) +
                    paint_row(paint, rows[rank], from, to) + '\n';
        }
    }
    if (ideal > static_cast<double>(total)) {
        text += fmt::format(
            "drawn {:.1f} times narrower than its names need: they are cut to fit, and passes may "
            "be "
            "missing; --json lists every pass\n",
            ideal / static_cast<double>(total));
    }
    return text;
}

}  // namespace orrery
