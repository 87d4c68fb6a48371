// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/units.hpp"

#include <tl/expected.hpp>

#include <string>
#include <string_view>

namespace orrery {

/// Reads a quantity with its unit: "80 GiB", "3 us", "400 Gbps", "50 GB/s", "989 TFLOP/s". A space
/// before the unit is optional; k, M, G, T, P are powers of 1000, Ki … Pi of 1024; "b" is a bit and
/// "B" a byte. A number without a unit is refused. Errors: what was expected, as text.
template <typename Q>
[[nodiscard]] tl::expected<Q, std::string> parse_quantity(std::string_view text) = delete;

template <>
tl::expected<Seconds, std::string> parse_quantity<Seconds>(std::string_view text);
template <>
tl::expected<Bytes, std::string> parse_quantity<Bytes>(std::string_view text);
template <>
tl::expected<BytesPerSecond, std::string> parse_quantity<BytesPerSecond>(std::string_view text);
template <>
tl::expected<FlopPerSecond, std::string> parse_quantity<FlopPerSecond>(std::string_view text);

/// A share: "12%" or "0.12". Errors: what was expected, as text.
[[nodiscard]] tl::expected<double, std::string> parse_fraction(std::string_view text);

/// For people: "12.5 GiB", "8.31 s", "431 µs", "1.23 TB/s": four significant digits, unit chosen by
/// size.
[[nodiscard]] std::string format_bytes(Bytes bytes);
[[nodiscard]] std::string format_seconds(Seconds seconds);
[[nodiscard]] std::string format_rate(BytesPerSecond rate);

}  // namespace orrery
