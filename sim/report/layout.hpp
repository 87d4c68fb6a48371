// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace orrery {

/// ANSI colours; a Painter that is off returns text as it is.
enum class Colour : int {
    None = 0,
    Bold = 1,
    Dim = 2,
    Red = 31,
    Green = 32,
    Yellow = 33,
    Blue = 34,
    Magenta = 35,
    Cyan = 36,
    BoldRed = 131,
    BoldGreen = 132
};

class Painter {
  public:
    explicit Painter(bool is_on) : is_on_(is_on) {}

    [[nodiscard]] std::string operator()(Colour colour, std::string_view text) const;

  private:
    bool is_on_;
};

/// A bar of `fraction` (clamped to 0 … 1) of `width` columns in eighths of a block, filled up with
/// spaces; anything above nothing shows at least an eighth.
[[nodiscard]] std::string bar(double fraction, int width);

/// Columns that UTF-8 text takes, every code point one.
[[nodiscard]] std::size_t columns(std::string_view text);

/// Text cut to `width` columns (the last becomes "…").
[[nodiscard]] std::string fit_text(std::string_view text, int width);

/// The same, padded to the width.
[[nodiscard]] std::string fit_left(std::string_view text, int width);
[[nodiscard]] std::string fit_right(std::string_view text, int width);

/// Text over several lines of at most `width` columns, broken at spaces. `first` begins the first
/// line, `indent` every later one.
[[nodiscard]] std::string wrap(std::string_view first, std::string_view text, int width,
                               std::string_view indent);

}  // namespace orrery
