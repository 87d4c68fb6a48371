// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace orrery::architecture {

/// A text file of the repository.
struct SourceFile {
    std::string path;  ///< from the repository's root, with '/': "sim/engine/engine.cpp"
    std::vector<std::string> lines;  ///< without their line ends
};

/// Every file below `folders` of `root` whose name ends in one of `endings`, sorted by path.
/// Folders that do not exist are passed over: a room that is not written yet breaks no rule.
[[nodiscard]] std::vector<SourceFile> read_sources(const std::string& root,
                                                   const std::vector<std::string>& folders,
                                                   const std::vector<std::string>& endings);

/// The folders that hold code of the product, and the endings of C++ and CUDA files.
[[nodiscard]] const std::vector<std::string>& code_folders();
[[nodiscard]] const std::vector<std::string>& code_endings();

/// The room that a file lies in: "engine" for sim/engine/…, "strategies" for strategies/… at any
/// depth, "calibrate/fit" for calibrate/fit/…, "gui"; empty for a path outside every room.
[[nodiscard]] std::string room_of(std::string_view path);

}  // namespace orrery::architecture
