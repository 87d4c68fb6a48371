// SPDX-License-Identifier: Apache-2.0
#include "base/nearest_name.hpp"

#include "tests/catch.hpp"

namespace orrery {

TEST_CASE("the nearest name has the fewest edits, and none is taken from afar") {
    const std::vector<std::string> names{"tensor", "pipeline", "data"};
    CHECK(nearest_name("tensr", names) == "tensor");
    CHECK(nearest_name("TENSOR", names) == "tensor");
    CHECK(nearest_name("pipelines", names) == "pipeline");
    CHECK(nearest_name("quantum", names).empty());
    CHECK(nearest_name("x", {}).empty());
}

TEST_CASE("of equally near names the first is taken") {
    CHECK(nearest_name("ab", {"aa", "bb"}) == "aa");
    CHECK(nearest_name("ab", {"bb", "aa"}) == "bb");
}

TEST_CASE("a hint names the nearest, or all where none is near") {
    CHECK(name_hint("tensr", {"tensor", "data"}) == "did you mean 'tensor'?");
    CHECK(name_hint("quantum", {"tensor", "data"}) == "valid: tensor, data");
    CHECK(name_hint("quantum", {}).empty());
}

}  // namespace orrery
