// SPDX-License-Identifier: Apache-2.0
#include "cost/measured_tables.hpp"

#include <array>
#include <cstdint>
#include <string>

namespace orrery {
namespace {

constexpr std::size_t kMaxErrors = 20;
constexpr std::int64_t kMaxDimension = std::int64_t{1} << 30;

/// Collects what is wrong with the rows of one table.
class RowErrors {
  public:
    explicit RowErrors(const CsvTable& table) : table_(&table) {}

    void add(std::size_t row, const std::string& field, const std::string& message) {
        if (errors_.size() < kMaxErrors) {
            errors_.push_back({.file = table_->file(),
                               .line = table_->line(row),
                               .field = field,
                               .message = message,
                               .hint = {}});
        }
    }

    [[nodiscard]] Diagnostics take() { return std::move(errors_); }

    [[nodiscard]] bool empty() const { return errors_.empty(); }

  private:
    const CsvTable* table_;
    Diagnostics errors_;
};

/// A shape's dimension; 0 and an error where it is not a whole number from 1 to 2^30.
std::int64_t dimension(const CsvTable& table, std::size_t row, std::size_t column,
                       RowErrors& errors) {
    const auto value = table.integer(row, column);
    if (!value || *value < 1 || *value > kMaxDimension) {
        errors.add(row, table.columns()[column], "expected a whole number from 1 to 2^30");
        return 0;
    }
    return *value;
}

Seconds time_of(const CsvTable& table, std::size_t row, std::size_t column, RowErrors& errors) {
    const auto value = table.number(row, column);
    if (!value || *value <= 0.0) {
        errors.add(row, table.columns()[column], "expected a time above 0 microseconds");
        return Seconds(0.0);
    }
    return Seconds(*value * 1e-6);
}

Dtype dtype_of(const CsvTable& table, std::size_t row, std::size_t column, RowErrors& errors) {
    const auto dtype = parse_dtype(table.cell(row, column));
    if (!dtype) {
        errors.add(row, "dtype",
                   "unknown number format '" + std::string(table.cell(row, column)) + "'");
    }
    return dtype.value_or(Dtype::Bf16);
}

}  // namespace

std::optional<Dtype> parse_dtype(std::string_view word) {
    constexpr std::array kAll{Dtype::Fp32,        Dtype::Bf16,        Dtype::Fp16,  Dtype::Fp8,
                              Dtype::Fp8DynQuant, Dtype::Fp8Block128, Dtype::Mxfp8, Dtype::Nvfp4};
    for (const Dtype dtype : kAll) {
        if (to_string(dtype) == word) {
            return dtype;
        }
    }
    return std::nullopt;
}

Expected<std::vector<GemmPoint>> read_gemm_points(const CsvTable& table) {
    ORRERY_TRY(columns, table.require({"m", "n", "k", "dtype", "time_us"}));
    RowErrors errors(table);
    std::vector<GemmPoint> points;
    points.reserve(table.rows());
    for (std::size_t row = 0; row < table.rows(); ++row) {
        GemmPoint point;
        point.shape.m = dimension(table, row, columns[0], errors);
        point.shape.n = dimension(table, row, columns[1], errors);
        point.shape.k = dimension(table, row, columns[2], errors);
        point.shape.dtype = dtype_of(table, row, columns[3], errors);
        point.time = time_of(table, row, columns[4], errors);
        points.push_back(point);
    }
    if (!errors.empty()) {
        return fail(errors.take());
    }
    return points;
}

Expected<std::vector<AttentionPoint>> read_attention_points(const CsvTable& table) {
    ORRERY_TRY(columns, table.require({"batch", "seq", "heads_q", "heads_kv", "head_dim_qk",
                                       "head_dim_v", "causal", "dtype", "pass", "time_us"}));
    RowErrors errors(table);
    std::vector<AttentionPoint> points;
    points.reserve(table.rows());
    for (std::size_t row = 0; row < table.rows(); ++row) {
        AttentionPoint point;
        point.shape.batch = dimension(table, row, columns[0], errors);
        point.shape.seq = dimension(table, row, columns[1], errors);
        point.shape.heads_q = dimension(table, row, columns[2], errors);
        point.shape.heads_kv = dimension(table, row, columns[3], errors);
        point.shape.head_dim_qk = dimension(table, row, columns[4], errors);
        point.shape.head_dim_v = dimension(table, row, columns[5], errors);
        const std::string_view causal = table.cell(row, columns[6]);
        const std::string_view pass = table.cell(row, columns[8]);
        if (causal != "0" && causal != "1") {
            errors.add(row, "causal", "expected 0 or 1");
        }
        if (pass != "fwd" && pass != "bwd") {
            errors.add(row, "pass", "expected fwd or bwd");
        }
        point.shape.causal = causal == "1";
        point.shape.dtype = dtype_of(table, row, columns[7], errors);
        point.shape.pass = pass == "bwd" ? KernelPass::Backward : KernelPass::Forward;
        point.time = time_of(table, row, columns[9], errors);
        points.push_back(point);
    }
    if (!errors.empty()) {
        return fail(errors.take());
    }
    return points;
}

}  // namespace orrery
