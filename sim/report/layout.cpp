// SPDX-License-Identifier: Apache-2.0
#include "report/layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace orrery {

std::string Painter::operator()(Colour colour, std::string_view text) const {
    if (!is_on_ || colour == Colour::None) {
        return std::string(text);
    }
    const int code = static_cast<int>(colour);
    const std::string escape = code > 100 ? fmt::format("1;{}", code - 100) : std::to_string(code);
    return fmt::format("\x1b[{}m{}\x1b[0m", escape, text);
}

std::string bar(double fraction, int width) {
    constexpr std::array<const char*, 8> kPart{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    fraction = std::isnan(fraction) ? 0.0 : std::clamp(fraction, 0.0, 1.0);
    auto eighths = static_cast<int>(std::lround(fraction * 8.0 * width));
    if (fraction > 0.0) {
        eighths = std::max(eighths, 1);
    }
    std::string text;
    for (int i = 0; i < eighths / 8; ++i) {
        text += "█";
    }
    text += kPart.at(static_cast<std::size_t>(eighths % 8));
    text.append(static_cast<std::size_t>(width - (eighths + 7) / 8), ' ');
    return text;
}

std::size_t columns(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
    }));
}

namespace {

std::string cut(std::string_view text, std::size_t width) {
    if (columns(text) <= width || width == 0) {
        return std::string(text);
    }
    std::size_t bytes = 0;
    std::size_t seen = 0;
    while (bytes < text.size()) {
        const bool starts = (static_cast<unsigned char>(text[bytes]) & 0xC0U) != 0x80U;
        if (starts && ++seen == width) {
            break;
        }
        ++bytes;
    }
    return std::string(text.substr(0, bytes)) + "…";
}

}  // namespace

std::string fit_text(std::string_view text, int width) {
    return cut(text, static_cast<std::size_t>(width));
}

std::string fit_left(std::string_view text, int width) {
    const auto want = static_cast<std::size_t>(width);
    std::string fitted = cut(text, want);
    fitted.append(want - std::min(want, columns(fitted)), ' ');
    return fitted;
}

std::string fit_right(std::string_view text, int width) {
    const auto want = static_cast<std::size_t>(width);
    const std::string fitted = cut(text, want);
    return std::string(want - std::min(want, columns(fitted)), ' ') + fitted;
}

std::string wrap(std::string_view first, std::string_view text, int width,
                 std::string_view indent) {
    std::string lines;
    std::string line(first);
    bool is_empty = true;
    while (!text.empty()) {
        const std::size_t space = std::min(text.find(' '), text.size());
        const std::string_view word = text.substr(0, space);
        text.remove_prefix(std::min(space + 1, text.size()));
        if (!is_empty && columns(line) + 1 + columns(word) > static_cast<std::size_t>(width)) {
            lines += line + "\n";
            line = indent;
        } else if (!is_empty) {
            line += ' ';
        }
        line += word;
        is_empty = false;
    }
    return lines + line;
}

}  // namespace orrery
