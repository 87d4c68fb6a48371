// SPDX-License-Identifier: Apache-2.0
#include "base/parse_units.hpp"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>

namespace orrery {
namespace {

struct Unit {
    std::string_view name;
    double factor;
};

using Parsed = tl::expected<double, std::string>;

std::string_view trim(std::string_view text) {
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0) {
        text.remove_prefix(1);
    }
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) {
        text.remove_suffix(1);
    }
    return text;
}

/// The number at the start of `text`, which is shortened by it.
std::optional<double> take_number(std::string_view& text) {
    double value = 0.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || !std::isfinite(value)) {
        return std::nullopt;
    }
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return value;
}

/// Factor of a prefix: "" 1, k 1000, Ki 1024, …; K is taken for k, as it has no other meaning.
std::optional<double> prefix_factor(std::string_view prefix) {
    constexpr std::string_view kLetters = "kMGTP";
    if (prefix.empty()) {
        return 1.0;
    }
    const std::size_t power = kLetters.find(prefix.front() == 'K' ? 'k' : prefix.front());
    if (power == std::string_view::npos || prefix.size() > 2 ||
        (prefix.size() == 2 && prefix[1] != 'i')) {
        return std::nullopt;
    }
    return std::pow(prefix.size() == 2 ? 1024.0 : 1000.0, static_cast<double>(power + 1));
}

/// Reads "number prefix base", base one of `bases`.
Parsed parse_prefixed(std::string_view text, std::span<const Unit> bases, const char* expected) {
    std::string_view rest = trim(text);
    const std::optional<double> value = take_number(rest);
    rest = trim(rest);
    if (value && *value >= 0.0) {
        for (const Unit& base : bases) {
            if (!rest.ends_with(base.name)) {
                continue;
            }
            const auto factor = prefix_factor(rest.substr(0, rest.size() - base.name.size()));
            if (factor && std::isfinite(*value * *factor * base.factor)) {
                return *value * *factor * base.factor;
            }
        }
    }
    return tl::unexpected<std::string>(fmt::format("expected {}, got \"{}\"", expected, text));
}

std::string with_unit(double value, double step, std::span<const std::string_view> units) {
    std::size_t unit = 0;
    double scaled = value;
    // From here four digits would print the step itself: take the next unit.
    const double limit = step > 1000.0 ? step - 0.5 : step - 0.05;
    while (unit + 1 < units.size() && std::abs(scaled) >= limit) {
        scaled /= step;
        ++unit;
    }
    return fmt::format("{:.4g} {}", scaled, units[unit]);
}

}  // namespace

template <>
tl::expected<Seconds, std::string> parse_quantity<Seconds>(std::string_view text) {
    constexpr std::array<Unit, 9> kUnits{{{"ps", 1e-12},
                                          {"ns", 1e-9},
                                          {"us", 1e-6},
                                          {"µs", 1e-6},
                                          {"ms", 1e-3},
                                          {"s", 1.0},
                                          {"min", 60.0},
                                          {"h", 3600.0},
                                          {"d", 86400.0}}};
    std::string_view rest = trim(text);
    const std::optional<double> value = take_number(rest);
    rest = trim(rest);
    if (value && *value >= 0.0) {
        for (const Unit& unit : kUnits) {
            if (rest == unit.name && std::isfinite(*value * unit.factor)) {
                return Seconds(*value * unit.factor);
            }
        }
    }
    return tl::unexpected<std::string>(fmt::format(
        "expected a time as \"3 us\" (ps, ns, us, ms, s, min, h, d), got \"{}\"", text));
}

template <>
tl::expected<Bytes, std::string> parse_quantity<Bytes>(std::string_view text) {
    constexpr std::array<Unit, 2> kBases{{{"B", 1.0}, {"b", 0.125}}};
    return parse_prefixed(text, kBases,
                          "a size as \"80 GiB\" (B or b, with k, M, G, T, P or Ki … Pi)")
        .map([](double si) { return Bytes(si); });
}

template <>
tl::expected<BytesPerSecond, std::string> parse_quantity<BytesPerSecond>(std::string_view text) {
    constexpr std::array<Unit, 4> kBases{
        {{"B/s", 1.0}, {"b/s", 0.125}, {"Bps", 1.0}, {"bps", 0.125}}};
    return parse_prefixed(text, kBases, "a rate as \"400 Gbps\" or \"50 GB/s\" (b bits, B bytes)")
        .map([](double si) { return BytesPerSecond(si); });
}

template <>
tl::expected<FlopPerSecond, std::string> parse_quantity<FlopPerSecond>(std::string_view text) {
    constexpr std::array<Unit, 4> kBases{
        {{"FLOP/s", 1.0}, {"FLOPps", 1.0}, {"FLOPS", 1.0}, {"flop/s", 1.0}}};
    return parse_prefixed(text, kBases, "a rate as \"989 TFLOP/s\"").map([](double si) {
        return FlopPerSecond(si);
    });
}

tl::expected<double, std::string> parse_fraction(std::string_view text) {
    std::string_view rest = trim(text);
    const std::optional<double> value = take_number(rest);
    rest = trim(rest);
    if (value && (rest.empty() || rest == "%")) {
        const double share = rest.empty() ? *value : *value / 100.0;
        if (share >= 0.0 && share <= 1.0) {
            return share;
        }
    }
    return tl::unexpected<std::string>(
        fmt::format("expected a share from 0 to 1, as \"0.12\" or \"12%\", got \"{}\"", text));
}

std::string format_bytes(Bytes bytes) {
    constexpr std::array<std::string_view, 6> kUnits{"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    return with_unit(bytes.si(), 1024.0, kUnits);
}

std::string format_seconds(Seconds seconds) {
    constexpr std::array<std::string_view, 5> kUnits{"ps", "ns", "µs", "ms", "s"};
    if (seconds.si() == 0.0) {
        return "0 s";
    }
    return with_unit(seconds.si() * 1e12, 1000.0, kUnits);
}

std::string format_rate(BytesPerSecond rate) {
    constexpr std::array<std::string_view, 6> kUnits{"B/s", "kB/s", "MB/s", "GB/s", "TB/s", "PB/s"};
    return with_unit(rate.si(), 1000.0, kUnits);
}

}  // namespace orrery
