// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/units.hpp"
#include "cluster/cluster.hpp"
#include "cost/profile.hpp"

#include <string>

namespace google::protobuf {
class Message;
}  // namespace google::protobuf

namespace orrery::schema {
class CollectiveFitField;
class CountField;
class FactorField;
class GemmFitField;
class QuantityField;
}  // namespace orrery::schema

namespace orrery {

/// How far a written value may be trusted; the words of the profile format.
enum class Trust { Measured, Datasheet, Scaled, Recalled, Assumed };

/// Where a written value came from.
struct Origin {
    std::string text;
    Trust trust = Trust::Assumed;
    double sigma = 0.0;  ///< 0 where the value itself is exact
};

/// "3.35 TB/s", "50 MB", "2.84 us": four significant digits, as `parse_quantity` reads them.
[[nodiscard]] std::string quantity_text(Seconds value);
[[nodiscard]] std::string quantity_text(BytesPerSecond value);
[[nodiscard]] std::string quantity_text(FlopPerSecond value);

/// Four significant digits: what is written is what is read.
[[nodiscard]] double rounded(double value);

void write_quantity(schema::QuantityField& field, const std::string& value, const Origin& origin);
void write_factor(schema::FactorField& field, double value, const Origin& origin);
void write_count(schema::CountField& field, std::int64_t value, const Origin& origin);
void write_gemm(schema::GemmFitField& field, Dtype dtype, const GemmFit& fit, const Origin& origin);
void write_collective(schema::CollectiveFitField& field, const CollectiveFit& fit,
                      const Origin& origin);

/// The protobuf text of a profile: one line a top-level field, messages that hold messages one line
/// a field, after the SPDX line and `comment`.
[[nodiscard]] std::string profile_text(const google::protobuf::Message& profile,
                                       const std::string& comment);

}  // namespace orrery
