// SPDX-License-Identifier: Apache-2.0
#include "scenario/shipped.hpp"

#include "scenario/scenario.hpp"
#include "tests/catch.hpp"

#include <algorithm>

namespace orrery {

TEST_CASE("what is shipped is listed with its summary, sorted, frameworks by their word") {
    for (const char* kind : {"models", "clusters", "fabrics", "gpus", "frameworks"}) {
        const auto list = list_shipped(kind);
        INFO(kind << (list ? "" : to_string(list.error())));
        REQUIRE(list);
        REQUIRE_FALSE(list->empty());
        CHECK(std::ranges::is_sorted(*list, {}, &Shipped::name));
        for (const Shipped& shipped : *list) {
            INFO(shipped.name);
            CHECK_FALSE(shipped.summary.empty());
        }
    }
    const auto frameworks = list_shipped("frameworks");
    CHECK(std::ranges::find(*frameworks, "MEGATRON_DEEPSPEED", &Shipped::name) !=
          frameworks->end());
}

TEST_CASE("an unknown kind is refused with the kinds there are") {
    const auto list = list_shipped("gpu");
    REQUIRE_FALSE(list);
    CHECK(list.error().front().hint == "did you mean 'gpus'?");
}

TEST_CASE("a path is taken as it is, a name from the shipped folder") {
    CHECK(find_shipped("models", "some/own.textproto").value() == "some/own.textproto");
    CHECK(find_shipped("models", "llama3-8b").value() ==
          scenarios_folder() + "/models/llama3-8b.textproto");
    CHECK_FALSE(find_shipped("models", "../models/llama3-8b"));
    CHECK(path_beside("/a/b/s.textproto", "../c.txt") == "/a/c.txt");
    CHECK(path_beside("/a/b/s.textproto", "/x/c.txt") == "/x/c.txt");
}

}  // namespace orrery
