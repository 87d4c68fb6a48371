// SPDX-License-Identifier: Apache-2.0
// The repository against its own rules. A failure prints every offending line.
#include "tests/architecture/include_rules.hpp"
#include "tests/architecture/link_rules.hpp"
#include "tests/architecture/source_tree.hpp"
#include "tests/catch.hpp"

#include <algorithm>
#include <map>

namespace orrery::architecture {
namespace {

std::string joined(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) {
        text += line + "\n";
    }
    return text;
}

const std::vector<SourceFile>& code() {
    static const std::vector<SourceFile> files =
        read_sources(ORRERY_SOURCE_DIR, code_folders(), code_endings());
    return files;
}

/// Rooms reached by following the table's arrows from `name`.
std::set<std::string> reach(const std::string& name) {
    std::set<std::string> seen;
    std::vector<std::string> open{name};
    while (!open.empty()) {
        const Room* room = find_room(open.back());
        open.pop_back();
        for (const std::string& next : room->may_include) {
            if (seen.insert(next).second) {
                open.push_back(next);
            }
        }
    }
    return seen;
}

}  // namespace

TEST_CASE("architecture: every include follows the arrows") {
    std::vector<std::string> offences;
    std::size_t num_includes = 0;
    for (const SourceFile& file : code()) {
        num_includes += includes_of(file).size();
        for (const std::string& offence : include_offences(file)) {
            offences.push_back(offence);
        }
    }
    INFO(joined(offences));
    CHECK(offences.empty());
    CHECK(num_includes > code().size());  // the reader saw includes at all
}

TEST_CASE("architecture: the arrows have no cycle") {
    for (const Room& room : rooms()) {
        INFO(room.name);
        CHECK_FALSE(reach(room.name).contains(room.name));
    }
}

TEST_CASE("architecture: every folder of sim is a room of the table") {
    std::map<std::string, std::size_t> num_files;
    for (const SourceFile& file : code()) {
        ++num_files[room_of(file.path)];
    }
    CHECK(num_files.size() >= 12);
    for (const auto& [room, count] : num_files) {
        INFO(room);
        CHECK(find_room(room) != nullptr);
    }
}

TEST_CASE(
    "architecture: libraries link only what their room may include, engine and strategies never "
    "each other") {
    const auto targets =
        read_targets(read_sources(ORRERY_SOURCE_DIR, code_folders(), {"CMakeLists.txt"}));
    const std::vector<std::string> offences = link_offences(targets);
    INFO(joined(offences));
    CHECK(offences.empty());
    CHECK(targets.contains("orrery_engine"));
    CHECK(targets.contains("orrery_strategies"));
}

TEST_CASE("architecture: no file is longer than 500 lines") {
    constexpr std::size_t kMostLines = 500;
    std::vector<std::string> offences;
    for (const SourceFile& file : read_sources(
             ORRERY_SOURCE_DIR, {"sim", "strategies", "planner", "calibrate", "gui", "tests"},
             {".hpp", ".cpp", ".h", ".cu", ".cuh", ".proto"})) {
        if (file.lines.size() > kMostLines) {
            offences.push_back(file.path + ": " + std::to_string(file.lines.size()) + " lines");
        }
    }
    INFO(joined(offences));
    CHECK(offences.empty());
}

TEST_CASE("architecture: every source file opens with its licence, every header is included once") {
    std::vector<std::string> offences;
    for (const SourceFile& file : read_sources(
             ORRERY_SOURCE_DIR, {"sim", "strategies", "planner", "calibrate", "gui", "tests"},
             {".hpp", ".cpp", ".h", ".cu", ".cuh", ".proto"})) {
        if (file.lines.empty() || file.lines.front() != "// SPDX-License-Identifier: Apache-2.0") {
            offences.push_back(file.path + ":1: expected // SPDX-License-Identifier: Apache-2.0");
        }
        if (file.path.ends_with(".hpp") &&
            std::ranges::find(file.lines, "#pragma once") == file.lines.end()) {
            offences.push_back(file.path + ": expected #pragma once");
        }
    }
    INFO(joined(offences));
    CHECK(offences.empty());
}

TEST_CASE("architecture: every folder of code says in a README what it is for") {
    std::vector<std::string> missing;
    const auto readmes = read_sources(
        ORRERY_SOURCE_DIR,
        {"sim", "strategies", "planner", "calibrate", "gui", "scenarios", "tests"}, {"README.md"});
    const auto has_readme = [&](const std::string& folder) {
        return std::ranges::any_of(readmes, [&](const SourceFile& readme) {
            return readme.path == folder + "/README.md";
        });
    };
    std::set<std::string> folders;
    for (const SourceFile& file : code()) {
        folders.insert(file.path.substr(0, file.path.rfind('/')));
    }
    for (const std::string& folder : folders) {
        if (!has_readme(folder)) {
            missing.push_back(folder);
        }
    }
    INFO(joined(missing));
    CHECK(missing.empty());
}

}  // namespace orrery::architecture
