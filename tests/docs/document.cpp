// SPDX-License-Identifier: Apache-2.0
#include "tests/docs/document.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <sstream>
#include <string_view>

namespace orrery::docs {
namespace {

bool is_fence(const std::string& line) {
    return line.starts_with("```");
}

bool is_letter(char c) {
    return std::isalpha(static_cast<unsigned char>(c)) != 0;
}

bool has_placeholder(const std::string& path) {
    std::size_t capitals = 0;
    for (const char c : path) {
        capitals = std::isupper(static_cast<unsigned char>(c)) != 0 ? capitals + 1 : 0;
        if (c == '*' || c == '<' || (capitals >= 2 && !path.ends_with("README.md"))) {
            return true;
        }
    }
    return false;
}

}  // namespace

std::vector<Block> blocks_of(const std::vector<std::string>& document) {
    std::vector<Block> blocks;
    bool is_open = false;
    for (std::size_t i = 0; i < document.size(); ++i) {
        if (is_fence(document[i])) {
            if (!is_open) {
                Block block;
                block.line = i + 1;
                std::istringstream info(document[i].substr(3));
                info >> block.language >> block.file;
                blocks.push_back(block);
            }
            is_open = !is_open;
        } else if (is_open) {
            blocks.back().lines.push_back(document[i]);
        }
    }
    return blocks;
}

std::vector<Command> commands_of(const Block& block) {
    std::vector<Command> commands;
    bool is_continued = false;
    for (std::size_t i = 0; i < block.lines.size(); ++i) {
        std::string text = block.lines[i];
        int code = 0;
        const std::size_t comment = text.starts_with('#') ? 0 : text.find(" #");
        if (comment != std::string::npos) {
            constexpr std::string_view kCode = "# exit code ";
            const std::size_t at = text.find(kCode);
            code = at == std::string::npos ? 0 : std::stoi(text.substr(at + kCode.size()));
            text.erase(comment);
        }
        text.erase(text.find_last_not_of(" \t") + 1);
        text.erase(0, std::min(text.find_first_not_of(" \t"), text.size()));
        const bool continues = text.ends_with('\\');
        if (continues) {
            text.pop_back();
        }
        if (is_continued) {
            commands.back().text += text;
            commands.back().expected_code = code;
        } else if (!text.empty()) {
            commands.push_back({text, block.line + 1 + i, code});
        }
        is_continued = continues;
    }
    return commands;
}

std::vector<std::string> named_paths(const std::vector<std::string>& document) {
    static constexpr std::array<std::string_view, 7> kFolders{
        "sim/", "strategies/", "tests/", "scenarios/", "calibrate/", "tools/", ".ci/"};
    std::vector<std::string> paths;
    bool in_block = false;
    for (const std::string& line : document) {
        in_block = is_fence(line) ? !in_block : in_block;
        if (in_block) {
            continue;
        }
        std::istringstream pieces(line);
        std::string piece;
        for (bool is_code = false; std::getline(pieces, piece, '`'); is_code = !is_code) {
            const bool is_ours = std::ranges::any_of(
                kFolders, [&](std::string_view folder) { return piece.starts_with(folder); });
            if (is_code && is_ours && !has_placeholder(piece) &&
                piece.find(' ') == std::string::npos) {
                paths.push_back(piece);
            }
        }
    }
    return paths;
}

std::vector<std::string> words_of(const std::vector<std::string>& lines) {
    static const std::set<std::string> scaled_units{"ps",  "ns",  "us",  "ms", "s",  "min",
                                                    "h",   "B",   "KB",  "MB", "GB", "TB",
                                                    "KiB", "MiB", "GiB", "k",  "M"};
    std::vector<std::string> words;
    for (const std::string& line : lines) {
        std::string word;
        for (const char c : line + " ") {
            if (is_letter(c)) {
                word += c;
            } else if (!word.empty()) {
                if (!scaled_units.contains(word)) {
                    words.push_back(word);
                }
                word.clear();
            }
        }
    }
    return words;
}

}  // namespace orrery::docs
