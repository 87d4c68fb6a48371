// SPDX-License-Identifier: Apache-2.0
#include "calibrate/fit/thin_table.hpp"

#include "cost/measured_tables.hpp"
#include "tests/catch.hpp"

using namespace orrery;  // NOLINT(google-build-using-namespace)

namespace {

const std::string kRows =
    "m,n,k,dtype,time_us,runs\n"
    "64,64,64,bf16,3,5\n4096,4096,4096,fp8_dynquant,100,5\n512,512,512,bf16,4,5\n"
    "129,512,512,bf16,4,5\n8192,8192,8192,bf16,1400,5\n";

}  // namespace

TEST_CASE("a table that fits is kept whole and in its order") {
    const auto table = CsvTable::parse(kRows, "t.csv");
    REQUIRE(table);
    CHECK(*thin_gemm_table(*table, 10'000) == kRows);
}

TEST_CASE("where room is short, large bf16 training shapes stay, then other bf16, then fp8") {
    const auto table = CsvTable::parse(kRows, "t.csv");
    REQUIRE(table);
    const std::string header = "m,n,k,dtype,time_us,runs\n";
    const std::string largest = "8192,8192,8192,bf16,1400,5\n";
    const std::string training = "512,512,512,bf16,4,5\n";
    CHECK(*thin_gemm_table(*table, header.size() + largest.size()) == header + largest);
    CHECK(*thin_gemm_table(*table, header.size() + largest.size() + training.size()) ==
          header + training + largest);
    const auto without_fp8 = thin_gemm_table(*table, kRows.size() - 1);
    CHECK(without_fp8->find("fp8") == std::string::npos);
    CHECK(without_fp8->find("129,512,512") != std::string::npos);
}

TEST_CASE("a refused row is left out") {
    const auto table = CsvTable::parse(kRows, "t.csv");
    REQUIRE(table);
    const auto large = thin_gemm_table(
        *table, 10'000, [](const GemmPoint& point) { return point.shape.m >= 4096; });
    CHECK(CsvTable::parse(*large, "t.csv")->rows() == 2);
}

TEST_CASE("an attention table reads back as it was written") {
    const AttentionPoint point{{.batch = 2,
                                .seq = 8192,
                                .heads_q = 64,
                                .heads_kv = 8,
                                .causal = false,
                                .pass = KernelPass::Backward},
                               Seconds(7831e-6)};
    const auto table = CsvTable::parse(attention_table_text({point}, "source"), "a.csv");
    REQUIRE(table);
    const auto points = read_attention_points(*table);
    REQUIRE(points);
    REQUIRE(points->size() == 1);
    CHECK((*points)[0].shape == point.shape);
    CHECK((*points)[0].time.si() == Approx(7831e-6));
}
