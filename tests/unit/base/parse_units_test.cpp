// SPDX-License-Identifier: Apache-2.0
#include "base/parse_units.hpp"

#include "tests/catch.hpp"

#include <string>

namespace orrery {
namespace {

template <typename Q>
double si(const char* text) {
    const auto value = parse_quantity<Q>(text);
    REQUIRE(value);
    return value->si();
}

template <typename Q>
bool is_refused(const char* text) {
    return !parse_quantity<Q>(text);
}

}  // namespace

TEST_CASE("powers of 1000 and of 1024 are told apart") {
    CHECK(si<Bytes>("80 GB") == 80e9);
    CHECK(si<Bytes>("80 GiB") == 85899345920.0);
    CHECK(si<Bytes>("32769 KiB") == 32769.0 * 1024.0);
    CHECK(si<Bytes>("1 kB") == 1000.0);
    CHECK(si<Bytes>("7B") == 7.0);
    CHECK(si<Bytes>(" 2.5  TiB ") == 2.5 * 1099511627776.0);
}

TEST_CASE("a small b is a bit") {
    CHECK(si<BytesPerSecond>("400 Gbps") == 50e9);
    CHECK(si<BytesPerSecond>("400 Gb/s") == 50e9);
    CHECK(si<BytesPerSecond>("50 GB/s") == 50e9);
    CHECK(si<BytesPerSecond>("50 GBps") == 50e9);
    CHECK(si<BytesPerSecond>("3.35 TB/s") == Approx(3.35e12));
    CHECK(si<Bytes>("8 Gib") == 1073741824.0);
}

TEST_CASE("times and rates of FLOP") {
    CHECK(si<Seconds>("3 us") == Approx(3e-6));
    CHECK(si<Seconds>("3 µs") == Approx(3e-6));
    CHECK(si<Seconds>("1.5ms") == Approx(1.5e-3));
    CHECK(si<Seconds>("2 min") == 120.0);
    CHECK(si<Seconds>("0 s") == 0.0);
    CHECK(si<FlopPerSecond>("989 TFLOP/s") == 989e12);
    CHECK(si<FlopPerSecond>("2.25 PFLOP/s") == 2.25e15);
}

TEST_CASE(
    "a number without a unit, an unknown unit and a negative size are refused with what was "
    "expected") {
    CHECK(is_refused<Bytes>("80"));
    CHECK(is_refused<Bytes>("GiB"));
    CHECK(is_refused<Bytes>("80 GiBs"));
    CHECK(is_refused<Bytes>("-1 GiB"));
    CHECK(is_refused<Bytes>("80 mB"));
    CHECK(is_refused<Bytes>("1e400 B"));
    CHECK(is_refused<Bytes>("nan B"));
    CHECK(is_refused<Seconds>("3 usec"));
    CHECK(is_refused<BytesPerSecond>("400 GB"));
    CHECK(is_refused<FlopPerSecond>("1 TB/s"));
    CHECK(is_refused<Seconds>(""));
    CHECK(parse_quantity<Bytes>("80 gigs").error() ==
          "expected a size as \"80 GiB\" (B or b, with k, M, G, T, P or Ki … Pi), got \"80 gigs\"");
}

TEST_CASE("a share is a number from 0 to 1 or a percentage") {
    CHECK(parse_fraction("0.12").value() == Approx(0.12));
    CHECK(parse_fraction("12%").value() == Approx(0.12));
    CHECK(parse_fraction("100 %").value() == 1.0);
    CHECK_FALSE(parse_fraction("12"));
    CHECK_FALSE(parse_fraction("-1%"));
    CHECK_FALSE(parse_fraction("101%"));
    CHECK_FALSE(parse_fraction("half"));
}

TEST_CASE("figures are printed with four digits in a unit of their size") {
    CHECK(format_bytes(Bytes(0.0)) == "0 B");
    CHECK(format_bytes(Bytes(1023.0)) == "1023 B");
    CHECK(format_bytes(Bytes(12.5 * 1073741824.0)) == "12.5 GiB");
    CHECK(format_bytes(Bytes(1023.9 * 1048576.0)) == "0.9999 GiB");
    CHECK(format_seconds(Seconds(8.314)) == "8.314 s");
    CHECK(format_seconds(Seconds(431.2e-6)) == "431.2 µs");
    CHECK(format_seconds(Seconds(0.99999e-3)) == "1 ms");
    CHECK(format_seconds(Seconds(0.0)) == "0 s");
    CHECK(format_seconds(Seconds(12345.0)) == "1.234e+04 s");
    CHECK(format_rate(BytesPerSecond(1.2345e12)) == "1.234 TB/s");
    CHECK(format_rate(BytesPerSecond(46e9)) == "46 GB/s");
}

}  // namespace orrery
