// SPDX-License-Identifier: Apache-2.0
#include "tests/architecture/include_rules.hpp"

#include <algorithm>
#include <array>

namespace orrery::architecture {
namespace {

std::vector<Room> make_rooms() {
    const std::set<std::string> all_of_sim_but_cli{"schema",  "model",   "cluster", "plan",
                                                   "program", "cost",    "network", "engine",
                                                   "report",  "scenario"};
    std::set<std::string> planner = all_of_sim_but_cli;
    planner.insert("run");
    std::set<std::string> cli = planner;
    cli.insert({"planner", "calibrate/fit", "calibrate/import"});
    return {
        {"base", {}, {}},
        {"schema", {}, {}},
        {"model", {}, {}},
        {"cluster", {}, {}},
        {"plan", {"model", "cluster"}, {}},
        {"program", {"model", "plan"}, {}},
        {"cost", {"model"}, {}},
        {"network", {"cluster"}, {}},
        {"engine", {"program", "cost", "network", "cluster"}, {}},
        {"report", {"program", "cost", "model", "cluster", "plan"}, {"engine/run_record.hpp"}},
        {"scenario", {"schema", "model", "cluster", "plan", "cost"}, {}},
        {"strategies", {"model", "cluster", "plan", "program", "cost"}, {}},
        {"run", all_of_sim_but_cli, {"strategies/build_programs.hpp"}},
        {"planner", planner, {"strategies/build_programs.hpp"}},
        {"calibrate/import", {}, {}},
        {"calibrate/fit", {"cost", "cluster", "network", "schema"}, {}},
        {"calibrate/harness", {}, {}},
        {"calibrate/replay", {"calibrate/harness", "run"}, {}},
        // `orrery schedule` prints an order by itself, without a model or a cluster to run it on.
        {"cli", cli, {"strategies/schedule/"}},
        {"gui",
         {"run", "planner", "report", "scenario", "model", "cluster", "plan", "calibrate/import"},
         {}},
    };
}

/// `text` with what lies in comments blanked out; `in_block` says whether a /* */ is open, before
/// and after.
std::string without_comments(const std::string& text, bool& in_block) {
    std::string kept;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (in_block) {
            if (text.compare(i, 2, "*/") == 0) {
                in_block = false;
                ++i;
            }
        } else if (text.compare(i, 2, "//") == 0) {
            break;
        } else if (text.compare(i, 2, "/*") == 0) {
            in_block = true;
            ++i;
        } else {
            kept += text[i];
        }
    }
    return kept;
}

bool is_heavy(std::string_view target) {
    constexpr std::array<std::string_view, 7> kHeavy{
        "google/protobuf/", "nlohmann/", "CLI/",  "boost/graph",
        "boost/heap",       "sqlite3.h", "zstd.h"};
    return target.ends_with(".pb.h") || std::ranges::any_of(kHeavy, [&](std::string_view heavy) {
               return target.starts_with(heavy);
           });
}

/// The room that a quoted include names, empty for none: paths start at sim/ or at the root.
std::string room_of_include(const std::string& target) {
    if (target.ends_with(".pb.h")) {
        return "schema";
    }
    const std::string from_root = room_of(target);
    return from_root.empty() ? room_of("sim/" + target) : from_root;
}

bool is_allowed(const Room& room, const std::string& path, const std::string& target,
                const std::string& target_room) {
    if (target_room == room.name || target_room == "base" ||
        room.may_include.contains(target_room)) {
        return true;
    }
    if (target_room == "schema" && path.ends_with("_proto.cpp")) {
        return true;
    }
    return std::ranges::any_of(room.may_include_headers, [&](const std::string& header) {
        return header.ends_with('/') ? target.starts_with(header) : target == header;
    });
}

std::string list_of(const Room& room) {
    std::string text = "base";
    for (const std::string& name : room.may_include) {
        text += ", " + name;
    }
    for (const std::string& name : room.may_include_headers) {
        text += ", " + name;
    }
    return text;
}

}  // namespace

const std::vector<Room>& rooms() {
    static const std::vector<Room> table = make_rooms();
    return table;
}

const Room* find_room(std::string_view name) {
    const auto found = std::ranges::find(rooms(), name, &Room::name);
    return found == rooms().end() ? nullptr : &*found;
}

std::vector<Include> includes_of(const SourceFile& file) {
    std::vector<Include> includes;
    bool in_block = false;
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
        const std::string line = without_comments(file.lines[i], in_block);
        std::size_t at = line.find_first_not_of(" \t");
        if (at == std::string::npos || line[at] != '#') {
            continue;
        }
        at = line.find_first_not_of(" \t", at + 1);
        if (at == std::string::npos || line.compare(at, 7, "include") != 0) {
            continue;
        }
        const std::size_t open = line.find_first_of("\"<", at);
        const std::size_t close =
            open == std::string::npos ? open : line.find_first_of("\">", open + 1);
        if (close != std::string::npos) {
            includes.push_back({i + 1, line.substr(open + 1, close - open - 1), line[open] == '"'});
        }
    }
    return includes;
}

std::vector<std::string> include_offences(const SourceFile& file) {
    const Room* room = find_room(room_of(file.path));
    if (room == nullptr) {
        return {file.path + ": lies in no room"};
    }
    std::vector<std::string> offences;
    for (const Include& include : includes_of(file)) {
        const std::string here = file.path + ":" + std::to_string(include.line) + ": #include \"" +
                                 include.target + "\": ";
        if (is_heavy(include.target) && !file.path.ends_with(".cpp")) {
            offences.push_back(here + "a heavy header, only for .cpp files");
        }
        if (!include.is_quoted && !include.target.ends_with(".pb.h")) {
            continue;
        }
        const std::string target_room = room_of_include(include.target);
        if (find_room(target_room) == nullptr) {
            offences.push_back(here + "names no room; write the path from sim/ or from the root");
        } else if (!is_allowed(*room, file.path, include.target, target_room)) {
            offences.push_back(here + room->name + " may include only " + list_of(*room));
        }
        if (include.target.ends_with("scenario.pb.h") && room->name != "scenario") {
            offences.push_back(here + "only sim/scenario reads scenario.pb.h");
        }
    }
    return offences;
}

}  // namespace orrery::architecture
