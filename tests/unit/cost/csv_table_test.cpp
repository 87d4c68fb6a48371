// SPDX-License-Identifier: Apache-2.0
#include "cost/csv_table.hpp"

#include "cost/measured_tables.hpp"
#include "tests/catch.hpp"

using namespace orrery;  // NOLINT(google-build-using-namespace)

TEST_CASE("a table skips comments and keeps commas inside quotes") {
    const auto table = CsvTable::parse("# source\na,b\n1,\"x, y\"\r\n\n2.5,z\n", "t.csv");
    REQUIRE(table);
    REQUIRE(table->rows() == 2);
    CHECK(table->cell(0, 1) == "x, y");
    CHECK(table->cell(1, 1) == "z");
    CHECK(table->line(1) == 5);
    CHECK(table->integer(0, 0) == 1);
    CHECK(table->number(1, 0) == 2.5);
    CHECK_FALSE(table->integer(1, 0));
    CHECK_FALSE(table->number(0, 1));
}

TEST_CASE("every row with another number of cells is named with its line") {
    const auto table = CsvTable::parse("a,b\n1\n1,2\n1,2,3\n", "t.csv");
    REQUIRE_FALSE(table);
    REQUIRE(table.error().size() == 2);
    CHECK(table.error()[0].line == 2);
    CHECK(table.error()[1].line == 4);
    CHECK(table.error()[1].message == "row has 3 cells, the header has 2");
}

TEST_CASE("a table refuses what is beyond its bounds") {
    CHECK_FALSE(CsvTable::parse(std::string(CsvTable::kMaxBytes + 1, 'x'), "t.csv"));
    CHECK_FALSE(CsvTable::parse("# nothing\n", "t.csv"));
    CHECK_FALSE(CsvTable::load("/no/such/table.csv"));
    std::string rows = "a\n";
    for (std::size_t i = 0; i <= CsvTable::kMaxRows; ++i) {
        rows += "1\n";
    }
    CHECK_FALSE(CsvTable::parse(std::move(rows), "t.csv"));
}

TEST_CASE("a missing column is named with the nearest that the table has") {
    const auto table = CsvTable::parse("m,n,k,dtype,time_ns\n", "t.csv");
    REQUIRE(table);
    const auto points = read_gemm_points(*table);
    REQUIRE_FALSE(points);
    CHECK(points.error()[0].field == "time_us");
    CHECK(points.error()[0].hint == "did you mean 'time_ns'?");
}

TEST_CASE("rows of products with a bad shape, time or format are all named") {
    const auto table = CsvTable::parse(
        "m,n,k,dtype,time_us\n64,64,64,bf16,3.5\n0,64,64,bf16,1\n64,64,64,bf17,1\n64,64,64,bf16,"
        "nan\n",
        "t.csv");
    REQUIRE(table);
    const auto points = read_gemm_points(*table);
    REQUIRE_FALSE(points);
    REQUIRE(points.error().size() == 3);
    CHECK(points.error()[0].line == 3);
    CHECK(points.error()[1].field == "dtype");
    CHECK(points.error()[2].line == 5);
}

TEST_CASE("an attention row keeps its mask and pass") {
    const std::string header =
        "batch,seq,heads_q,heads_kv,head_dim_qk,head_dim_v,causal,dtype,pass,time_us\n";
    const auto table = CsvTable::parse(header + "2,4096,32,8,128,128,1,bf16,bwd,388.08\n", "t.csv");
    REQUIRE(table);
    const auto points = read_attention_points(*table);
    REQUIRE(points);
    CHECK((*points)[0].shape.causal);
    CHECK((*points)[0].shape.pass == KernelPass::Backward);
    CHECK((*points)[0].time.si() == Approx(388.08e-6));
    const auto both = CsvTable::parse(header + "2,4096,32,8,128,128,2,bf16,fwdbwd,1\n", "t.csv");
    REQUIRE(both);
    CHECK(read_attention_points(*both).error().size() == 2);
}
