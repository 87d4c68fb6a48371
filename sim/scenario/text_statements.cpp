// SPDX-License-Identifier: Apache-2.0
#include "scenario/text_statements.hpp"

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <algorithm>

namespace orrery {
namespace {

constexpr int kMaxDepth = 64;
constexpr int kTab = 8;

class CountErrors : public google::protobuf::io::ErrorCollector {
  public:
    void AddError(int /*line*/, google::protobuf::io::ColumnNumber /*column*/,
                  const std::string& /*message*/) override {
        ++count;
    }

    int count = 0;
};

bool opens(const std::string& token) {
    return token == "{" || token == "<" || token == "[";
}

bool closes(const std::string& token) {
    return token == "}" || token == ">" || token == "]";
}

bool is_quoted(const std::string& token) {
    return !token.empty() && (token.front() == '"' || token.front() == '\'');
}

/// Offsets of the tokens of a text, found in one pass since tokens come in order.
class OffsetCursor {
  public:
    explicit OffsetCursor(const std::string& text) : text_(&text) {}

    std::size_t advance_to(int line, int tab_column) {
        while (offset_ < text_->size() &&
               (line_ < line || (line_ == line && column_ < tab_column))) {
            const char c = (*text_)[offset_++];
            if (c == '\n') {
                ++line_;
                column_ = 0;
            } else {
                column_ = c == '\t' ? column_ + kTab - column_ % kTab : column_ + 1;
            }
        }
        return offset_;
    }

  private:
    const std::string* text_;
    std::size_t offset_ = 0;
    int line_ = 0;
    int column_ = 0;
};

}  // namespace

std::size_t offset_of(const std::string& text, int line, int tab_column) {
    return OffsetCursor(text).advance_to(line, tab_column);
}

TextPlace place_of(const std::string& text, std::size_t offset) {
    const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(offset, text.size()));
    const auto line = std::count(text.begin(), end, '\n');
    const auto start = std::find(std::make_reverse_iterator(end), text.rend(), '\n').base();
    return TextPlace{.line = static_cast<int>(line) + 1,
                     .column = static_cast<int>(end - start) + 1};
}

std::optional<TextStatements> TextStatements::scan(const std::string& text) {
    google::protobuf::io::ArrayInputStream stream(text.data(), static_cast<int>(text.size()));
    CountErrors errors;
    google::protobuf::io::Tokenizer tokenizer(&stream, &errors);
    tokenizer.set_allow_f_after_float(true);
    tokenizer.set_comment_style(google::protobuf::io::Tokenizer::SH_COMMENT_STYLE);
    tokenizer.set_require_space_after_number(false);
    tokenizer.set_allow_multiline_strings(true);

    TextStatements result;
    OffsetCursor cursor(text);
    while (tokenizer.Next()) {
        const auto& token = tokenizer.current();
        const std::size_t begin = cursor.advance_to(token.line, token.column);
        result.tokens_.push_back(
            TextToken{.text = token.text, .begin = begin, .end = begin + token.text.size()});
    }
    std::size_t at = 0;
    if (errors.count > 0 || !result.scan_fields(at, "", 0) || at != result.tokens_.size()) {
        return std::nullopt;
    }
    return result;
}

bool TextStatements::scan_fields(std::size_t& at, const std::string& prefix, int depth) {
    while (at < tokens_.size() && !closes(tokens_[at].text)) {
        if (tokens_[at].text == ";" || tokens_[at].text == ",") {
            ++at;
            continue;
        }
        const std::size_t first = at;
        const std::string path =
            prefix.empty() ? tokens_[at].text : prefix + "." + tokens_[at].text;
        const std::size_t index = statements_.size();
        statements_.push_back(TextStatement{.path = path, .first = first, .end = first});
        if (opens(tokens_[at].text) ? !skip_list(at) : (++at, false)) {
            return false;
        }
        if (at < tokens_.size() && tokens_[at].text == ":") {
            ++at;
        }
        if (!scan_value(at, path, depth)) {
            return false;
        }
        statements_[index].end = at;
    }
    return true;
}

bool TextStatements::scan_value(std::size_t& at, const std::string& path, int depth) {
    if (at >= tokens_.size() || closes(tokens_[at].text)) {
        return false;
    }
    if (tokens_[at].text == "[") {
        return skip_list(at);
    }
    if (opens(tokens_[at].text)) {
        const std::string closing = tokens_[at].text == "{" ? "}" : ">";
        ++at;
        if (depth >= kMaxDepth || !scan_fields(at, path, depth + 1) || at >= tokens_.size() ||
            tokens_[at].text != closing) {
            return false;
        }
        ++at;
        return true;
    }
    if (tokens_[at].text == "-") {
        ++at;
    }
    if (at >= tokens_.size()) {
        return false;
    }
    const bool quoted = is_quoted(tokens_[at].text);
    ++at;
    while (quoted && at < tokens_.size() && is_quoted(tokens_[at].text)) {
        ++at;  // adjacent strings are one value
    }
    return true;
}

bool TextStatements::skip_list(std::size_t& at) {
    int depth = 0;
    for (; at < tokens_.size(); ++at) {
        depth += opens(tokens_[at].text) ? 1 : 0;
        depth -= closes(tokens_[at].text) ? 1 : 0;
        if (depth == 0) {
            ++at;
            return true;
        }
    }
    return false;
}

std::size_t TextStatements::token_at(std::size_t offset) const {
    const auto found = std::ranges::find_if(tokens_, [offset](const TextToken& token) {
        return token.begin >= offset && !token.is_masked;
    });
    return static_cast<std::size_t>(found - tokens_.begin());
}

std::size_t TextStatements::token_before(std::size_t token) const {
    for (std::size_t i = std::min(token, tokens_.size()); i > 0; --i) {
        if (!tokens_[i - 1].is_masked) {
            return i - 1;
        }
    }
    return token;
}

const TextStatement* TextStatements::statement_at(std::size_t token) const {
    const TextStatement* innermost = nullptr;
    for (const TextStatement& statement : statements_) {
        if (statement.first <= token && token < statement.end) {
            innermost = &statement;  // statements are in order of their start
        }
    }
    return innermost;
}

void TextStatements::mask(const TextStatement& statement, std::string& text) {
    for (std::size_t i = statement.first; i < statement.end; ++i) {
        tokens_[i].is_masked = true;
    }
    const std::size_t end = tokens_[statement.end - 1].end;
    for (std::size_t i = tokens_[statement.first].begin; i < end; ++i) {
        text[i] = text[i] == '\n' ? '\n' : ' ';
    }
}

}  // namespace orrery
