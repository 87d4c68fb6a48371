// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace orrery::docs {

/// A fenced block of a Markdown document: ```INFO … ```.
struct Block {
    std::string language;            ///< first word after the fence: "sh", "text", "textproto"
    std::string file;                ///< second word: the file that the block's text is, or empty
    std::size_t line = 0;            ///< of the opening fence, from 1
    std::vector<std::string> lines;  ///< between the fences
};

/// A line of an `sh` block.
struct Command {
    std::string text;       ///< without a trailing comment
    std::size_t line = 0;   ///< in the document, from 1
    int expected_code = 0;  ///< N of a trailing "# exit code N"
};

[[nodiscard]] std::vector<Block> blocks_of(const std::vector<std::string>& document);

/// The commands of an `sh` block: one a line, empty lines and comments left out, a line that ends
/// in '\' joined with the next.
[[nodiscard]] std::vector<Command> commands_of(const Block& block);

/// Paths of the repository that the document names in `code` outside of blocks: words with a '/'
/// that begin with one of its folders, without placeholders (capitals as in NAME, or '*').
[[nodiscard]] std::vector<std::string> named_paths(const std::vector<std::string>& document);

/// The words of a printed report, in order, without figures, units that scale with them, and bars:
/// what stays when the model moves.
[[nodiscard]] std::vector<std::string> words_of(const std::vector<std::string>& lines);

}  // namespace orrery::docs
