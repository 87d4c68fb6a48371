// SPDX-License-Identifier: Apache-2.0
#include "base/diagnostic.hpp"

#include "tests/catch.hpp"

namespace orrery {
namespace {

Expected<int> one_or_errors(bool good) {
    if (good) {
        return 1;
    }
    return fail(Diagnostics{{.message = "first"}, {.message = "second"}});
}

Expected<int> twice(bool good) {
    ORRERY_TRY(value, one_or_errors(good));
    return value * 2;
}

}  // namespace

TEST_CASE("a diagnostic is printed as file, line, column, field, message and hint") {
    const Diagnostic whole{.file = "a.textproto",
                           .line = 12,
                           .column = 5,
                           .field = "plan.tensor",
                           .message = "6 does not divide model.heads = 64",
                           .hint = "try 4 or 8"};
    CHECK(to_string(whole) ==
          "a.textproto:12:5: plan.tensor: 6 does not divide model.heads = 64\n    try 4 or 8");
    CHECK(to_string(Diagnostic{.message = "alone"}) == "alone");
    CHECK(to_string(Diagnostic{.file = "--set", .field = "plan.tp", .message = "no field"}) ==
          "--set: plan.tp: no field");
    CHECK(to_string(Diagnostics{{.message = "a"}, {.message = "b"}}) == "a\nb\n");
}

TEST_CASE("ORRERY_TRY passes every diagnostic on") {
    CHECK(twice(true).value() == 2);
    REQUIRE_FALSE(twice(false));
    CHECK(twice(false).error().size() == 2);
    CHECK(twice(false).error()[1].message == "second");
}

}  // namespace orrery
