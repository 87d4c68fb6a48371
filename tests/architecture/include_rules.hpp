// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/architecture/source_tree.hpp"

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace orrery::architecture {

/// One #include of a file.
struct Include {
    std::size_t line = 0;  ///< from 1
    std::string target;    ///< what stands between the quotes or angle brackets
    bool is_quoted = false;
};

/// Rooms, each with the rooms that its files may include beside itself and base/. Room names are
/// those of room_of. The arrows run one way: no room can reach itself through others.
struct Room {
    std::string name;
    std::set<std::string> may_include;
    /// Single headers of other rooms, or whole sub-folders (ending in '/'), that it may include
    /// too.
    std::set<std::string> may_include_headers;
};

[[nodiscard]] const std::vector<Room>& rooms();

/// Null where no room has that name.
[[nodiscard]] const Room* find_room(std::string_view name);

/// The #include lines of a file; those in comments do not count.
[[nodiscard]] std::vector<Include> includes_of(const SourceFile& file);

/// What the file's includes break, one text each: "sim/engine/engine.cpp:3: engine may not include
/// …". Rules: the table of rooms(); schema/ and *.pb.h only in files named *_proto.cpp and in rooms
/// whose row names schema; scenario.pb.h only in sim/scenario/; heavy headers (protobuf, JSON,
/// CLI11, Boost.Graph, SQLite, zstd) only in .cpp files; a quoted include names a header by its
/// room.
[[nodiscard]] std::vector<std::string> include_offences(const SourceFile& file);

}  // namespace orrery::architecture
