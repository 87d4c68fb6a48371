// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>

namespace orrery {

/// Exponents of the three dimensions Orrery computes with.
template <int Time, int Data, int Flops>
struct Dim {
    static constexpr int kTime = Time;
    static constexpr int kData = Data;
    static constexpr int kFlops = Flops;
};

/// A physical quantity: one double in SI units (seconds, bytes, FLOP). Sums and comparisons exist
/// only within one dimension, products and quotients combine dimensions. A dimensionless result is
/// a plain double. Bytes stay exact up to 2^53 (9 PB).
template <typename D>
class Quantity {
  public:
    constexpr Quantity() = default;

    constexpr explicit Quantity(double si) : si_(si) {}

    /// The value in SI units.
    [[nodiscard]] constexpr double si() const { return si_; }

    constexpr Quantity& operator+=(Quantity other) {
        si_ += other.si_;
        return *this;
    }

    constexpr Quantity& operator-=(Quantity other) {
        si_ -= other.si_;
        return *this;
    }

    friend constexpr Quantity operator+(Quantity a, Quantity b) { return Quantity(a.si_ + b.si_); }

    friend constexpr Quantity operator-(Quantity a, Quantity b) { return Quantity(a.si_ - b.si_); }

    friend constexpr Quantity operator*(Quantity a, double factor) {
        return Quantity(a.si_ * factor);
    }

    friend constexpr Quantity operator*(double factor, Quantity a) {
        return Quantity(a.si_ * factor);
    }

    friend constexpr Quantity operator/(Quantity a, double divisor) {
        return Quantity(a.si_ / divisor);
    }

    friend constexpr auto operator<=>(Quantity, Quantity) = default;

  private:
    double si_ = 0.0;
};

namespace detail {
template <int T, int B, int F>
constexpr auto make_quantity(double si) {
    if constexpr (T == 0 && B == 0 && F == 0) {
        return si;
    } else {
        return Quantity<Dim<T, B, F>>(si);
    }
}
}  // namespace detail

template <typename A, typename B>
constexpr auto operator*(Quantity<A> a, Quantity<B> b) {
    return detail::make_quantity<A::kTime + B::kTime, A::kData + B::kData, A::kFlops + B::kFlops>(
        a.si() * b.si());
}

template <typename A, typename B>
constexpr auto operator/(Quantity<A> a, Quantity<B> b) {
    return detail::make_quantity<A::kTime - B::kTime, A::kData - B::kData, A::kFlops - B::kFlops>(
        a.si() / b.si());
}

using Seconds = Quantity<Dim<1, 0, 0>>;
using Bytes = Quantity<Dim<0, 1, 0>>;
using Flop = Quantity<Dim<0, 0, 1>>;
using BytesPerSecond = Quantity<Dim<-1, 1, 0>>;
using FlopPerSecond = Quantity<Dim<-1, 0, 1>>;

namespace literals {
constexpr Seconds operator""_s(long double v) {
    return Seconds(static_cast<double>(v));
}

constexpr Seconds operator""_ms(long double v) {
    return Seconds(static_cast<double>(v) * 1e-3);
}

constexpr Seconds operator""_us(long double v) {
    return Seconds(static_cast<double>(v) * 1e-6);
}

constexpr Seconds operator""_ns(long double v) {
    return Seconds(static_cast<double>(v) * 1e-9);
}

constexpr Bytes operator""_B(unsigned long long v) {
    return Bytes(static_cast<double>(v));
}

constexpr Bytes operator""_MB(long double v) {
    return Bytes(static_cast<double>(v) * 1e6);
}

constexpr Bytes operator""_GB(long double v) {
    return Bytes(static_cast<double>(v) * 1e9);
}

constexpr Bytes operator""_MiB(long double v) {
    return Bytes(static_cast<double>(v) * 1048576.0);
}

constexpr Bytes operator""_GiB(long double v) {
    return Bytes(static_cast<double>(v) * 1073741824.0);
}

constexpr BytesPerSecond operator""_GBps(long double v) {
    return BytesPerSecond(static_cast<double>(v) * 1e9);
}

constexpr BytesPerSecond operator""_Gbps(long double v) {
    return BytesPerSecond(static_cast<double>(v) * 1e9 / 8.0);
}

constexpr FlopPerSecond operator""_TFLOPps(long double v) {
    return FlopPerSecond(static_cast<double>(v) * 1e12);
}
}  // namespace literals

}  // namespace orrery
