// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "scenario/text_format.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace orrery {

/// One `name: value` or `name { … }` of a protobuf text, as tokens [first, end) of the text.
struct TextStatement {
    std::string path;  ///< dotted: "plan.tensor"
    std::size_t first = 0;
    std::size_t end = 0;
};

struct TextToken {
    std::string text;
    std::size_t begin = 0;  ///< byte offsets
    std::size_t end = 0;
    bool is_masked = false;
};

/// A protobuf text as tokens and statements, by brackets alone and without a schema: so that one
/// bad statement can be blanked out and the parser can go on to the next.
class TextStatements {
  public:
    /// No value when brackets or quotes do not match, or are nested deeper than 64.
    static std::optional<TextStatements> scan(const std::string& text);

    /// The unmasked token at or after `offset`; tokens().size() when there is none.
    [[nodiscard]] std::size_t token_at(std::size_t offset) const;
    /// The unmasked token before `token`, or `token` where there is none.
    [[nodiscard]] std::size_t token_before(std::size_t token) const;
    /// The innermost statement that holds the token, or nullptr.
    [[nodiscard]] const TextStatement* statement_at(std::size_t token) const;

    /// Replaces the statement in `text` by blanks; line breaks stay.
    void mask(const TextStatement& statement, std::string& text);

    [[nodiscard]] const std::vector<TextToken>& tokens() const { return tokens_; }

  private:
    bool scan_fields(std::size_t& at, const std::string& prefix, int depth);
    bool scan_value(std::size_t& at, const std::string& path, int depth);
    bool skip_list(std::size_t& at);

    std::vector<TextToken> tokens_;
    std::vector<TextStatement> statements_;
};

/// Byte offset of a 0-based line and column in which a tab reaches to the next multiple of 8
/// (protobuf's count); the text's size when it lies behind the end.
[[nodiscard]] std::size_t offset_of(const std::string& text, int line, int tab_column);
/// Line and column from 1, a tab counted as one column.
[[nodiscard]] TextPlace place_of(const std::string& text, std::size_t offset);

}  // namespace orrery
