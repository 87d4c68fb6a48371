// SPDX-License-Identifier: Apache-2.0
// The reader of documents itself, on texts made up here.
#include "tests/docs/document.hpp"

#include "tests/catch.hpp"

namespace orrery::docs {

TEST_CASE("documents: fenced blocks are found with their language, file and place") {
    const auto blocks = blocks_of(
        {"text", "```sh", "ls", "```", "", "```textproto my.textproto", "a: 1", "b: 2", "```"});
    REQUIRE(blocks.size() == 2);
    CHECK(blocks[0].language == "sh");
    CHECK(blocks[0].line == 2);
    CHECK(blocks[1].file == "my.textproto");
    CHECK(blocks[1].lines == std::vector<std::string>{"a: 1", "b: 2"});
}

TEST_CASE("documents: a command loses its comment, keeps its exit code, joins its lines") {
    const auto commands = commands_of({"sh",
                                       "",
                                       10,
                                       {"# all of them", "orrery list gpus   # what there is", "",
                                        "orrery x \\", "  --y  # exit code 2"}});
    REQUIRE(commands.size() == 2);
    CHECK(commands[0].text == "orrery list gpus");
    CHECK(commands[0].line == 12);
    CHECK(commands[0].expected_code == 0);
    CHECK(commands[1].text == "orrery x --y");
    CHECK(commands[1].expected_code == 2);
}

TEST_CASE("documents: paths in code are found, placeholders and blocks are not") {
    const auto paths =
        named_paths({"see `sim/run/simulate.cpp` and `scenarios/gpus/NAME.textproto`, `sim/*`",
                     "```sh", "`sim/none`", "```", "sim/plain, `sim/base`"});
    CHECK(paths == std::vector<std::string>{"sim/run/simulate.cpp", "sim/base"});
}

TEST_CASE("documents: a report's words stay when its figures move") {
    CHECK(words_of({"step 8.3 s  ████░ 42%", "peak 71.2 GiB"}) ==
          words_of({"step 912.1 ms  ██░ 7%", "peak 512 MiB"}));
    CHECK(words_of({"fits"}) != words_of({"does not fit"}));
}

}  // namespace orrery::docs
