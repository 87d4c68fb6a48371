// SPDX-License-Identifier: Apache-2.0
#include "report/layout.hpp"
#include "report/result.hpp"
#include "tests/catch.hpp"
#include "tests/unit/report/fixture.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>

namespace orrery {
namespace {

Result make_result() {
    Result result = test::make_job(false).summarize();
    result.wall_time = 0.25;
    return result;
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
        lines.push_back(line);
    }
    return lines;
}

TEST_CASE("text report: the page is as the golden file shows it") {
    std::ifstream in(ORRERY_SOURCE_DIR "/tests/golden/report.txt");
    std::ostringstream golden;
    golden << in.rdbuf();
    CHECK(text_report(make_result(), 100, false) == golden.str());
}

/// Sixteen stages, many collectives, many notes.
Result make_large_result() {
    Result result = make_result();
    result.stages.resize(16, result.stages[0]);
    for (std::size_t s = 0; s < result.stages.size(); ++s) {
        result.stages[s].stage = static_cast<std::int64_t>(s);
    }
    result.communication.resize(40, result.communication[0]);
    for (std::size_t i = 0; i < result.communication.size(); ++i) {
        result.communication[i].bytes_per_call = static_cast<std::int64_t>(1000 + i);
    }
    result.notes.assign(20, "the release of the framework is not stated: the newest was taken");
    return result;
}

TEST_CASE("text report: the largest job still fits on one screen") {
    const std::vector<std::string> lines = lines_of(text_report(make_large_result(), 100, false));
    CHECK(lines.size() <= 45);
    for (const std::string& line : lines) {
        INFO(line);
        CHECK(columns(line) <= 100);
    }
}

TEST_CASE("text report: what is cut is counted") {
    const std::string text = text_report(make_large_result(), 100, false);
    CHECK(text.find("10 more stages") != std::string::npos);
    CHECK(text.find("34 smaller ones") != std::string::npos);
    CHECK(text.find("17 more notes") != std::string::npos);
}

TEST_CASE("text report: the verdict names rank, stage and category, and what is too much") {
    test::Job job = test::make_job(false);
    job.capacity = Bytes(4.0 * static_cast<double>(test::kGiB));
    const std::string text = text_report(job.summarize(), 100, false);
    CHECK(text.find("DOES NOT FIT") != std::string::npos);
    CHECK(text.find("0.50 GiB too much") != std::string::npos);
    CHECK(text.find("rank 2 (stage 1 of 2)") != std::string::npos);
    CHECK(text.find("parameters take 3.00 GiB") != std::string::npos);
}

TEST_CASE("text report: lines of the ledger add up to the exposed bars of the mean rank") {
    Result result = make_result();
    // Half of the ranks reduce twice more under another name: 1 ms each, all of it exposed.
    LedgerRow other = result.communication[0];
    other.name = "loss reduce";
    other.ranks = 2;
    other.calls_per_step = 2.0;
    other.time = Seconds(0.002);
    other.exposed = Seconds(0.002);
    result.communication.push_back(other);
    const std::string text = text_report(result, 100, false);
    // 12 + 2/2 calls, 40 + 2/2 ms, 11 + 2/2 ms
    const auto at = text.find("projection red… +1");
    REQUIRE(at != std::string::npos);
    const std::string row = text.substr(at, text.find('\n', at) - at);
    CHECK(row.find("     13 nvlink     41 ms     12 ms") != std::string::npos);
}

TEST_CASE("text report: colour changes nothing but colour") {
    const std::string plain = text_report(make_result(), 100, false);
    const std::string coloured = text_report(make_result(), 100, true);
    CHECK(plain.find('\x1b') == std::string::npos);
    std::string stripped;
    bool is_escape = false;
    for (const char c : coloured) {
        is_escape = is_escape || c == '\x1b';
        if (!is_escape) {
            stripped += c;
        }
        is_escape = is_escape && c != 'm';
    }
    CHECK(stripped != coloured);
    CHECK(stripped == plain);
}

TEST_CASE("bar: full, empty, a half and a trace") {
    CHECK(bar(0.0, 4) == "    ");
    CHECK(bar(1.0, 4) == "████");
    CHECK(bar(0.5, 4) == "██  ");
    CHECK(bar(1.0 / 16.0, 2) == "▏ ");
    CHECK(bar(1e-9, 4) == "▏   ");
    CHECK(bar(7.0, 2) == "██");
}

TEST_CASE("layout: text is cut and padded by columns, not bytes") {
    CHECK(fit_left("µs", 4) == "µs  ");
    CHECK(fit_right("µs", 4) == "  µs");
    CHECK(fit_left("naïvely", 4) == "naï…");
    CHECK(wrap("· ", "one two three", 9, "  ") == "· one two\n  three");
}

}  // namespace
}  // namespace orrery
