// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/architecture/source_tree.hpp"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace orrery::architecture {

/// A library or program of the project, as its CMakeLists.txt declares it.
struct Target {
    std::string name;
    std::string room;             ///< of its first source, as room_of says
    std::set<std::string> links;  ///< targets whose name starts with "orrery_", direct
};

/// The targets that orrery_room(), add_library(), add_executable() and target_link_libraries()
/// declare in `files` (CMakeLists.txt files), by name. orrery_warnings is left out: it has no code.
[[nodiscard]] std::map<std::string, Target> read_targets(const std::vector<SourceFile>& files);

/// All that `name` links, through others too; itself not among them unless a cycle leads back.
[[nodiscard]] std::set<std::string> links_through(const std::map<std::string, Target>& targets,
                                                  const std::string& name);

/// What the targets break: orrery_engine reaches orrery_strategies or the other way round; a room
/// links a room whose headers it may not include; a target reaches itself.
[[nodiscard]] std::vector<std::string> link_offences(const std::map<std::string, Target>& targets);

}  // namespace orrery::architecture
