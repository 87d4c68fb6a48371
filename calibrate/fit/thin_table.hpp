// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/diagnostic.hpp"
#include "cost/csv_table.hpp"
#include "cost/profile.hpp"

#include <cstddef>
#include <functional>
#include <string>

namespace orrery {

/// Text of the rows of a table of products that a profile keeps, in the table's order and columns
/// (m,n,k,dtype,time_us and the least, most and number of runs where it has them), at most
/// `most_bytes`: first bf16, then the other formats; of each first the shapes whose dimensions are
/// all multiples of 64 and at least 256 (training), then the rest in order of decreasing FLOP.
/// `keep` refuses single rows. Errors: as `read_gemm_points`.
[[nodiscard]] Expected<std::string> thin_gemm_table(
    const CsvTable& table, std::size_t most_bytes,
    const std::function<bool(const GemmPoint&)>& keep = {});

/// Text of an attention table for a profile:
/// batch,seq,heads_q,heads_kv,head_dim_qk,head_dim_v,causal, dtype,pass,time_us.
[[nodiscard]] std::string attention_table_text(const std::vector<AttentionPoint>& points,
                                               const std::string& comment);

}  // namespace orrery
