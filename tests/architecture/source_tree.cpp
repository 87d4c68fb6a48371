// SPDX-License-Identifier: Apache-2.0
#include "tests/architecture/source_tree.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace orrery::architecture {
namespace {

namespace fs = std::filesystem;

bool has_ending(const std::string& name, const std::vector<std::string>& endings) {
    return std::ranges::any_of(endings,
                               [&](const std::string& ending) { return name.ends_with(ending); });
}

std::vector<std::string> read_lines(const fs::path& path) {
    std::ifstream in(path);
    std::vector<std::string> lines;
    std::string line;
    while (std::getline(in, line)) {
        lines.push_back(line);
    }
    return lines;
}

}  // namespace

std::vector<SourceFile> read_sources(const std::string& root,
                                     const std::vector<std::string>& folders,
                                     const std::vector<std::string>& endings) {
    std::vector<SourceFile> files;
    for (const std::string& folder : folders) {
        const fs::path top = fs::path(root) / folder;
        if (!fs::exists(top)) {
            continue;
        }
        for (const fs::directory_entry& entry : fs::recursive_directory_iterator(top)) {
            if (!entry.is_regular_file() ||
                !has_ending(entry.path().filename().string(), endings)) {
                continue;
            }
            files.push_back(
                {fs::relative(entry.path(), root).generic_string(), read_lines(entry.path())});
        }
    }
    std::ranges::sort(files, {}, &SourceFile::path);
    return files;
}

const std::vector<std::string>& code_folders() {
    static const std::vector<std::string> folders{"sim", "strategies", "planner", "calibrate",
                                                  "gui"};
    return folders;
}

const std::vector<std::string>& code_endings() {
    static const std::vector<std::string> endings{".hpp", ".cpp", ".h", ".cu", ".cuh"};
    return endings;
}

std::string room_of(std::string_view path) {
    const auto first_folders = [](std::string_view text, std::size_t skip, std::size_t count) {
        std::string_view rest = text;
        for (std::size_t i = 0; i < skip; ++i) {
            rest.remove_prefix(rest.find('/') + 1);
        }
        std::size_t end = 0;
        for (std::size_t i = 0; i < count; ++i) {
            end = rest.find('/', end == 0 ? 0 : end + 1);
            if (end == std::string_view::npos) {
                return std::string();
            }
        }
        return std::string(rest.substr(0, end));
    };
    if (path.starts_with("sim/")) {
        return first_folders(path, 1, 1);
    }
    if (path.starts_with("calibrate/")) {
        return first_folders(path, 0, 2);
    }
    for (const std::string_view folder : {"strategies", "planner", "gui"}) {
        if (path.starts_with(std::string(folder) + "/")) {
            return std::string(folder);
        }
    }
    return {};
}

}  // namespace orrery::architecture
