// SPDX-License-Identifier: Apache-2.0
#include "scenario/import/json_text.hpp"

#include "scenario/text_statements.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>

namespace orrery {
namespace {

constexpr std::size_t kMaxText = std::size_t{16} << 20U;
constexpr int kMaxDepth = 64;

/// Deepest nesting of brackets outside strings.
int bracket_depth(const std::string& text) {
    int depth = 0;
    int deepest = 0;
    bool in_string = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (in_string) {
            i += c == '\\' ? 1U : 0U;
            in_string = c != '"';
        } else if (c == '"') {
            in_string = true;
        } else if (c == '{' || c == '[') {
            deepest = std::max(deepest, ++depth);
        } else if (c == '}' || c == ']') {
            --depth;
        }
    }
    return deepest;
}

}  // namespace

Diagnostics check_json(const std::string& text, const std::string& file) {
    if (text.size() > kMaxText) {
        return {Diagnostic{.file = file, .message = "is larger than 16 MiB"}};
    }
    if (bracket_depth(text) > kMaxDepth) {
        return {Diagnostic{.file = file, .message = "is nested deeper than 64"}};
    }
    try {
        const auto parsed = nlohmann::json::parse(text);
        return {};
    } catch (const nlohmann::json::exception& error) {
        const auto* parse_error = dynamic_cast<const nlohmann::json::parse_error*>(&error);
        const std::size_t byte =
            parse_error == nullptr || parse_error->byte == 0 ? 0 : parse_error->byte - 1;
        const TextPlace place = place_of(text, byte);
        return {Diagnostic{.file = file,
                           .line = place.line,
                           .column = place.column,
                           .message = "is not JSON",
                           .hint = error.what()}};
    }
}

TextPlace place_of_key(const std::string& text, const std::string& key) {
    const std::string quoted = "\"" + key + "\"";
    const std::size_t first = text.find(quoted);
    if (first == std::string::npos || text.find(quoted, first + 1) != std::string::npos) {
        return TextPlace{};
    }
    return place_of(text, first);
}

}  // namespace orrery
