// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/diagnostic.hpp"
#include "cost/csv_table.hpp"
#include "cost/profile.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace orrery {

/// The number format of a table's word ("bf16", "fp8_block128", …), or nothing.
[[nodiscard]] std::optional<Dtype> parse_dtype(std::string_view word);

/// Rows of m,n,k,dtype,time_us: forward products (TN). Other columns are ignored.
/// Errors: a missing column; a row with a shape or time that is not a positive number, or an
/// unknown dtype (the first 20 such rows, each with its line).
[[nodiscard]] Expected<std::vector<GemmPoint>> read_gemm_points(const CsvTable& table);

/// Rows of batch,seq,heads_q,heads_kv,head_dim_qk,head_dim_v,causal,dtype,pass,time_us; pass is fwd
/// or bwd. Errors: as `read_gemm_points`.
[[nodiscard]] Expected<std::vector<AttentionPoint>> read_attention_points(const CsvTable& table);

}  // namespace orrery
