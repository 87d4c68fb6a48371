// SPDX-License-Identifier: Apache-2.0
#include "cost/csv_table.hpp"

#include "base/nearest_name.hpp"

#include <charconv>
#include <cmath>
#include <fstream>
#include <sstream>
#include <system_error>

namespace orrery {
namespace {

constexpr std::size_t kMaxBadRows = 20;

template <typename T>
std::optional<T> read_all(std::string_view text) {
    T value{};
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc() || stop != end) {
        return std::nullopt;
    }
    return value;
}

}  // namespace

std::vector<CsvTable::Span> CsvTable::split_line(std::size_t begin, std::size_t end) const {
    std::vector<Span> cells;
    std::size_t start = begin;
    while (true) {
        const bool is_quoted = start < end && text_[start] == '"';
        std::size_t stop = is_quoted ? text_.find('"', start + 1) : text_.find(',', start);
        if (stop == std::string::npos || stop > end) {
            stop = end;
        }
        const std::size_t first = is_quoted ? start + 1 : start;
        cells.push_back(
            {static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(stop - first)});
        const std::size_t comma = is_quoted ? text_.find(',', stop) : stop;
        if (comma == std::string::npos || comma >= end) {
            return cells;
        }
        start = comma + 1;
    }
}

Expected<CsvTable> CsvTable::parse(std::string text, const std::string& file) {
    if (text.size() > kMaxBytes) {
        return fail({.file = file, .message = "table holds more than 16 MiB", .hint = {}});
    }
    CsvTable table;
    table.file_ = file;
    table.text_ = std::move(text);
    Diagnostics errors;
    int line = 0;
    for (std::size_t begin = 0; begin < table.text_.size();) {
        std::size_t next = table.text_.find('\n', begin);
        next = next == std::string::npos ? table.text_.size() : next;
        std::size_t end = next;
        while (end > begin && table.text_[end - 1] == '\r') {
            --end;
        }
        ++line;
        if (end > begin && table.text_[begin] != '#') {
            const std::vector<Span> cells = table.split_line(begin, end);
            if (table.columns_.empty()) {
                for (const Span& span : cells) {
                    table.columns_.emplace_back(table.text_, span.begin, span.size);
                }
            } else if (cells.size() != table.columns_.size()) {
                errors.push_back({.file = file,
                                  .line = line,
                                  .message = "row has " + std::to_string(cells.size()) +
                                             " cells, the header has " +
                                             std::to_string(table.columns_.size()),
                                  .hint = {}});
            } else {
                table.cells_.insert(table.cells_.end(), cells.begin(), cells.end());
                table.lines_.push_back(line);
            }
        }
        begin = next + 1;
        if (table.lines_.size() > kMaxRows || errors.size() >= kMaxBadRows) {
            break;
        }
    }
    if (table.lines_.size() > kMaxRows) {
        errors.push_back({.file = file, .message = "table has more than 500000 rows", .hint = {}});
    }
    if (table.columns_.empty()) {
        errors.push_back({.file = file, .message = "table has no header line", .hint = {}});
    }
    if (!errors.empty()) {
        return fail(std::move(errors));
    }
    return table;
}

Expected<CsvTable> CsvTable::load(const std::string& path) {
    std::ifstream stream(path, std::ios::binary);
    if (!stream) {
        return fail({.file = path, .message = "table cannot be read", .hint = {}});
    }
    std::string text(kMaxBytes + 1, '\0');
    stream.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(stream.gcount()));
    return parse(std::move(text), path);
}

std::optional<std::size_t> CsvTable::column(std::string_view name) const {
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        if (columns_[i] == name) {
            return i;
        }
    }
    return std::nullopt;
}

Expected<std::vector<std::size_t>> CsvTable::require(const std::vector<std::string>& names) const {
    std::vector<std::size_t> found;
    Diagnostics errors;
    for (const std::string& name : names) {
        if (const auto index = column(name)) {
            found.push_back(*index);
        } else {
            errors.push_back({.file = file_,
                              .line = 1,
                              .field = name,
                              .message = "table has no such column",
                              .hint = name_hint(name, columns_)});
        }
    }
    if (!errors.empty()) {
        return fail(std::move(errors));
    }
    return found;
}

std::optional<std::int64_t> CsvTable::integer(std::size_t row, std::size_t column) const {
    return read_all<std::int64_t>(cell(row, column));
}

std::optional<double> CsvTable::number(std::size_t row, std::size_t column) const {
    const auto value = read_all<double>(cell(row, column));
    return value && std::isfinite(*value) ? value : std::nullopt;
}

}  // namespace orrery
