// SPDX-License-Identifier: Apache-2.0
#include "calibrate/fit/thin_table.hpp"

#include "cost/measured_tables.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <vector>

namespace orrery {
namespace {

struct Candidate {
    std::size_t row = 0;
    int priority = 0;
    double flop = 0.0;
    std::string text;
};

int priority_of(const GemmKernel& shape) {
    const bool is_training = shape.m % 64 == 0 && shape.n % 64 == 0 && shape.k % 64 == 0 &&
                             std::min({shape.m, shape.n, shape.k}) >= 256;
    return (shape.dtype == Dtype::Bf16 ? 0 : 2) + (is_training ? 0 : 1);
}

std::string row_text(const CsvTable& table, std::size_t row,
                     const std::vector<std::size_t>& columns) {
    std::string text;
    for (const std::size_t column : columns) {
        text += text.empty() ? "" : ",";
        text += table.cell(row, column);
    }
    return text + "\n";
}

std::string microseconds(Seconds time) {
    std::array<char, 32> buffer{};
    const int size = std::snprintf(buffer.data(), buffer.size(), "%.6g", time.si() * 1e6);
    return {buffer.data(), static_cast<std::size_t>(size)};
}

}  // namespace

Expected<std::string> thin_gemm_table(const CsvTable& table, std::size_t most_bytes,
                                      const std::function<bool(const GemmPoint&)>& keep) {
    ORRERY_TRY(points, read_gemm_points(table));
    std::vector<std::size_t> columns;
    std::string header;
    for (const char* name :
         {"m", "n", "k", "dtype", "time_us", "time_min_us", "time_max_us", "runs"}) {
        if (const auto column = table.column(name)) {
            columns.push_back(*column);
            header += (header.empty() ? "" : ",") + std::string(name);
        }
    }
    header += "\n";
    std::vector<Candidate> candidates;
    for (std::size_t row = 0; row < points.size(); ++row) {
        if (!keep || keep(points[row])) {
            candidates.push_back({row, priority_of(points[row].shape),
                                  kernel_flop(points[row].shape).si(),
                                  row_text(table, row, columns)});
        }
    }
    std::ranges::stable_sort(candidates, [](const Candidate& a, const Candidate& b) {
        return a.priority != b.priority ? a.priority < b.priority : a.flop > b.flop;
    });
    std::size_t bytes = header.size();
    std::size_t kept = 0;
    while (kept < candidates.size() && bytes + candidates[kept].text.size() <= most_bytes) {
        bytes += candidates[kept++].text.size();
    }
    candidates.resize(kept);
    std::ranges::sort(candidates, {}, &Candidate::row);
    for (const Candidate& candidate : candidates) {
        header += candidate.text;
    }
    return header;
}

std::string attention_table_text(const std::vector<AttentionPoint>& points,
                                 const std::string& comment) {
    std::string text = "# " + comment + "\n";
    text += "batch,seq,heads_q,heads_kv,head_dim_qk,head_dim_v,causal,dtype,pass,time_us\n";
    for (const AttentionPoint& point : points) {
        const AttentionKernel& shape = point.shape;
        for (const std::int64_t value : {shape.batch, shape.seq, shape.heads_q, shape.heads_kv,
                                         shape.head_dim_qk, shape.head_dim_v}) {
            text += std::to_string(value) + ",";
        }
        text += shape.causal ? "1," : "0,";
        text += std::string(to_string(shape.dtype)) + ",";
        text += shape.pass == KernelPass::Forward ? "fwd," : "bwd,";
        text += microseconds(point.time) + "\n";
    }
    return text;
}

}  // namespace orrery
