// SPDX-License-Identifier: Apache-2.0
#include "tests/catch.hpp"
#include "tests/unit/cli/run_orrery.hpp"

namespace orrery::test {
namespace {

TEST_CASE("orrery list: every kind lists what must exist") {
    const std::vector<std::pair<std::string, std::string>> expected{
        {"models", "llama3.1-405b"}, {"clusters", "dgx-h100"},   {"fabrics", "ib_ndr_8x400"},
        {"gpus", "h100-sxm"},        {"frameworks", "MEGATRON"}, {"profiles", "gpu h100-sxm"},
        {"schedules", "interleaved"}};
    for (const auto& [kind, name] : expected) {
        const Outcome listed = run_orrery({"list", kind});
        INFO(kind);
        CHECK(listed.exit_code == 0);
        CHECK(has("\n" + listed.out, "\n" + name + " "));
    }
}

TEST_CASE("orrery list: an unknown kind names the nearest") {
    const Outcome refused = run_orrery({"list", "model"});
    CHECK(refused.exit_code == 2);
    CHECK(has(refused.err, "did you mean 'models'?"));
}

}  // namespace
}  // namespace orrery::test
