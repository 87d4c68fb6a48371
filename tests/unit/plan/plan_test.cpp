// SPDX-License-Identifier: Apache-2.0
#include "plan/plan.hpp"

#include "tests/catch.hpp"

#include <algorithm>
#include <numeric>

namespace orrery {
namespace {

// arXiv 2407.21783: 126 layers, so that with 16 stages the first and last hold one layer less.
TEST_CASE("405B's 126 layers on 16 stages with embedding and loss as layers are 7, 8, ..., 8, 7") {
    std::vector<std::int64_t> expected(16, 8);
    expected.front() = 7;
    expected.back() = 7;
    CHECK(split_layers(126, 16, true, true) == expected);
}

TEST_CASE("what does not divide goes to the first virtual stages") {
    CHECK(split_layers(10, 4, false, false) == std::vector<std::int64_t>{3, 3, 2, 2});
    CHECK(split_layers(9, 4, true, false) == std::vector<std::int64_t>{2, 3, 2, 2});
    CHECK(split_layers(9, 4, false, true) == std::vector<std::int64_t>{3, 3, 2, 1});
    CHECK(split_layers(2, 4, true, true) == std::vector<std::int64_t>{0, 1, 1, 0});
    CHECK(split_layers(5, 1, true, true) == std::vector<std::int64_t>{5});
}

TEST_CASE("every split holds all layers, and stages differ by one at most") {
    for (std::int64_t layers = 4; layers < 60; ++layers) {
        for (std::int64_t stages = 1; stages <= 4; ++stages) {
            for (const bool embedding : {false, true}) {
                for (const bool loss : {false, true}) {
                    std::vector<std::int64_t> split = split_layers(layers, stages, embedding, loss);
                    REQUIRE(std::accumulate(split.begin(), split.end(), std::int64_t{0}) == layers);
                    split.front() += embedding ? 1 : 0;
                    split.back() += loss ? 1 : 0;
                    REQUIRE(split.front() - split.back() <= 1);
                    REQUIRE(std::is_sorted(split.rbegin(), split.rend()));
                }
            }
        }
    }
}

TEST_CASE("a replica runs global_batch / (micro_batch · data) micro-batches") {
    Plan plan;
    plan.data = 8;
    CHECK(num_microbatches(plan, 128, 2) == 8);
}

}  // namespace
}  // namespace orrery
