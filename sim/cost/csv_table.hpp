// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/diagnostic.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

/// A comma-separated table with a header line. Cells are text; a cell in double quotes may hold
/// commas. Lines that start with '#' and empty lines are skipped.
class CsvTable {
  public:
    /// Bounds of what is read; beyond them the reader refuses.
    static constexpr std::size_t kMaxBytes = std::size_t{16} << 20;
    static constexpr std::size_t kMaxRows = 500'000;

    /// Errors: no header, a row with another number of cells (the first 20 such rows), bounds
    /// exceeded.
    [[nodiscard]] static Expected<CsvTable> parse(std::string text, const std::string& file);

    /// As `parse`. Errors: a file that cannot be read, or holds more than kMaxBytes.
    [[nodiscard]] static Expected<CsvTable> load(const std::string& path);

    [[nodiscard]] std::size_t rows() const { return lines_.size(); }

    [[nodiscard]] const std::string& file() const { return file_; }

    /// Line of the file that row `row` stands on, from 1.
    [[nodiscard]] int line(std::size_t row) const { return lines_[row]; }

    [[nodiscard]] const std::vector<std::string>& columns() const { return columns_; }

    [[nodiscard]] std::optional<std::size_t> column(std::string_view name) const;

    /// Index of each named column. Errors: every name that the header lacks, with the nearest it
    /// has.
    [[nodiscard]] Expected<std::vector<std::size_t>> require(
        const std::vector<std::string>& names) const;

    [[nodiscard]] std::string_view cell(std::size_t row, std::size_t column) const {
        const Span& span = cells_[row * columns_.size() + column];
        return std::string_view(text_).substr(span.begin, span.size);
    }

    /// The cell as a whole number or a finite number; nothing where it is neither.
    [[nodiscard]] std::optional<std::int64_t> integer(std::size_t row, std::size_t column) const;
    [[nodiscard]] std::optional<double> number(std::size_t row, std::size_t column) const;

  private:
    struct Span {
        std::uint32_t begin = 0;
        std::uint32_t size = 0;
    };

    std::vector<Span> split_line(std::size_t begin, std::size_t end) const;

    std::string file_;
    std::string text_;
    std::vector<std::string> columns_;
    std::vector<Span> cells_;
    std::vector<int> lines_;
};

}  // namespace orrery
