// SPDX-License-Identifier: Apache-2.0
// README.md and HACKING.md, tried out: each fenced command runs or is checked, none is passed over.
#include "tests/catch.hpp"
#include "tests/docs/document.hpp"
#include "tests/docs/shell.hpp"

#include <nlohmann/json.hpp>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>

namespace orrery::docs {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> kDocuments{"README.md", "HACKING.md"};

fs::path in_source(const std::string& path) {
    return fs::path(ORRERY_SOURCE_DIR) / path;
}

/// Names of the presets of one kind: "configurePresets", "buildPresets", "testPresets",
/// "workflowPresets".
std::set<std::string> presets(const std::string& kind) {
    std::ifstream in(in_source("CMakePresets.json"));
    const nlohmann::json all = nlohmann::json::parse(in);
    std::set<std::string> names;
    for (const auto& preset : all.at(kind)) {
        if (!preset.value("hidden", false)) {
            names.insert(preset.at("name").get<std::string>());
        }
    }
    return names;
}

std::string preset_kind(const std::string& command) {
    if (command.starts_with("cmake --workflow ")) {
        return "workflowPresets";
    }
    if (command.starts_with("cmake --build ")) {
        return "buildPresets";
    }
    if (command.starts_with("ctest ")) {
        return "testPresets";
    }
    return command.starts_with("cmake ") ? "configurePresets" : "";
}

/// What the command breaks, empty when it holds. Commands that would build or test the repository
/// from inside its own tests are checked against what they name instead of run.
std::string problem_with(const Command& command, const Workplace& workplace) {
    const std::string first = command.text.substr(0, command.text.find(' '));
    if (first == "./quickstart" || first == "./check" || first == ".ci/run") {
        return ::access(in_source(first).c_str(), X_OK) == 0 ? ""
                                                             : "is not there or has no run bit";
    }
    if (const std::string kind = preset_kind(command.text); !kind.empty()) {
        const std::size_t at = command.text.find("--preset ");
        if (at == std::string::npos) {
            return "names no preset";
        }
        const std::string rest = command.text.substr(at + 9);
        const std::string preset = rest.substr(0, rest.find(' '));
        return presets(kind).contains(preset) ? "" : "there is no preset " + preset + " in " + kind;
    }
    if (first == "orrery" || first == "build/release/bin/orrery") {
        const Ran ran = workplace.run(command.text);
        return ran.code == command.expected_code
                   ? ""
                   : "exit code " + std::to_string(ran.code) + ", expected " +
                         std::to_string(command.expected_code) + "\n" + ran.errors;
    }
    return "nobody here knows how to try this command";
}

}  // namespace

TEST_CASE("docs: every documented command does what it says") {
    for (const std::string& document : kDocuments) {
        const Workplace workplace;
        std::size_t num_commands = 0;
        for (const Block& block : blocks_of(read_lines(in_source(document).string()))) {
            if (!block.file.empty()) {
                workplace.write(block.file, block.lines);
            }
            if (block.language != "sh") {
                continue;
            }
            for (const Command& command : commands_of(block)) {
                ++num_commands;
                const std::string problem = problem_with(command, workplace);
                INFO(document << ":" << command.line << ": " << command.text << "\n" << problem);
                CHECK(problem.empty());
            }
        }
        INFO(document);
        CHECK(num_commands > 0);
    }
}

TEST_CASE("docs: a block says what it is, so that no command hides in it") {
    const std::set<std::string> languages{"sh", "text", "textproto", "cpp", "cmake", "json"};
    for (const std::string& document : kDocuments) {
        for (const Block& block : blocks_of(read_lines(in_source(document).string()))) {
            INFO(document << ":" << block.line << ": language '" << block.language << "'");
            CHECK(languages.contains(block.language));
        }
    }
}

TEST_CASE("docs: every path that a document names exists") {
    for (const std::string& document : kDocuments) {
        for (const std::string& path : named_paths(read_lines(in_source(document).string()))) {
            INFO(document << ": " << path);
            CHECK(fs::exists(in_source(path)));
        }
    }
}

TEST_CASE("docs: the report in the README is the one that the first scenario prints") {
    const auto readme = read_lines(in_source("README.md").string());
    std::vector<std::string> shown;
    for (const Block& block : blocks_of(readme)) {
        if (block.language == "text" && block.file == "report") {
            shown = block.lines;
        }
    }
    REQUIRE_FALSE(shown.empty());
    const Workplace workplace;
    const Ran ran =
        workplace.run("orrery simulate scenarios/examples/llama3-70b-64xh100.textproto");
    REQUIRE(ran.code == 0);
    INFO("tools/update_readme puts the report of today into README.md");
    CHECK(words_of(shown) == words_of({ran.output}));
}

TEST_CASE("docs: every command says in its help how it is used, with an example") {
    const Workplace workplace;
    for (const std::string name : {"simulate", "list", "schedule", "import"}) {
        const Ran ran = workplace.run("orrery " + name + " --help");
        INFO(name << "\n" << ran.output << ran.errors);
        CHECK(ran.code == 0);
        CHECK(ran.output.find("orrery " + name + " ") != std::string::npos);
    }
}

}  // namespace orrery::docs
