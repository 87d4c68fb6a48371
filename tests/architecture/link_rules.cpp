// SPDX-License-Identifier: Apache-2.0
#include "tests/architecture/link_rules.hpp"

#include "tests/architecture/include_rules.hpp"

#include <algorithm>
#include <sstream>

namespace orrery::architecture {
namespace {

struct Call {
    std::string name;
    std::vector<std::string> words;
};

/// The calls of a CMake file, comments left out. Enough of the language for lists of names; nested
/// parentheses are words of the outer call.
std::vector<Call> calls_of(const SourceFile& file) {
    std::string text;
    for (const std::string& line : file.lines) {
        text.append(line, 0, line.find('#')).append(1, '\n');
    }
    std::vector<Call> calls;
    std::size_t at = 0;
    while ((at = text.find('(', at)) != std::string::npos) {
        std::size_t begin = text.find_last_of(" \t\n)", at);
        begin = begin == std::string::npos ? 0 : begin + 1;
        std::size_t end = at + 1;
        for (int depth = 1; end < text.size() && depth > 0; ++end) {
            depth += text[end] == '(' ? 1 : text[end] == ')' ? -1 : 0;
        }
        Call call{text.substr(begin, at - begin), {}};
        std::istringstream words(text.substr(at + 1, end - at - 2));
        for (std::string word; words >> word;) {
            call.words.push_back(word);
        }
        calls.push_back(std::move(call));
        at = end;
    }
    return calls;
}

bool is_source(const std::string& word) {
    return word.ends_with(".cpp") || word.ends_with(".cu");
}

void read_call(const Call& call, const std::string& folder,
               std::map<std::string, Target>& targets) {
    const bool declares =
        call.name == "orrery_room" || call.name == "add_library" || call.name == "add_executable";
    if ((!declares && call.name != "target_link_libraries") || call.words.empty()) {
        return;
    }
    const std::string& name = call.words.front();
    if (!name.starts_with("orrery") || name == "orrery_warnings") {
        return;
    }
    Target& target = targets[name];
    target.name = name;
    if (target.room.empty() && declares) {
        const auto source = std::ranges::find_if(call.words, is_source);
        target.room = room_of(folder + (source == call.words.end() ? "x.cpp" : *source));
    }
    for (const std::string& word : call.words) {
        if (word.starts_with("orrery_") && word != name && word != "orrery_warnings") {
            target.links.insert(word);
        }
    }
}

/// Engine and strategies meet in run/ only: neither may be in the other's program.
bool is_forbidden_pair(const std::string& room, const std::map<std::string, Target>& targets,
                       const std::string& other) {
    const auto found = targets.find(other);
    const std::string other_room = found == targets.end() ? "" : found->second.room;
    return (room == "engine" && other_room == "strategies") ||
           (room == "strategies" && other_room == "engine");
}

void check_rooms(const std::map<std::string, Target>& targets, const Target& target,
                 std::vector<std::string>& offences) {
    const Room* room = find_room(target.room);
    if (room == nullptr) {
        return;
    }
    for (const std::string& link : target.links) {
        const auto linked = targets.find(link);
        if (linked == targets.end()) {
            continue;
        }
        const std::string& other = linked->second.room;
        const bool has_header =
            std::ranges::any_of(room->may_include_headers,
                                [&](const std::string& h) { return h.starts_with(other + "/"); });
        // Files named *_proto.cpp may include schema in every room.
        if (other != room->name && other != "base" && other != "schema" && !has_header &&
            !room->may_include.contains(other)) {
            offences.push_back(target.name + " links " + link + ", but " + room->name +
                               " may not include " + other);
        }
    }
}

}  // namespace

std::map<std::string, Target> read_targets(const std::vector<SourceFile>& files) {
    std::map<std::string, Target> targets;
    for (const SourceFile& file : files) {
        const std::string folder = file.path.substr(0, file.path.rfind('/') + 1);
        for (const Call& call : calls_of(file)) {
            read_call(call, folder, targets);
        }
    }
    return targets;
}

std::set<std::string> links_through(const std::map<std::string, Target>& targets,
                                    const std::string& name) {
    std::set<std::string> seen;
    std::vector<std::string> open{name};
    while (!open.empty()) {
        const std::string next = open.back();
        open.pop_back();
        const auto found = targets.find(next);
        if (found == targets.end()) {
            continue;
        }
        for (const std::string& link : found->second.links) {
            if (seen.insert(link).second) {
                open.push_back(link);
            }
        }
    }
    return seen;
}

std::vector<std::string> link_offences(const std::map<std::string, Target>& targets) {
    std::vector<std::string> offences;
    for (const auto& [name, target] : targets) {
        const std::set<std::string> reached = links_through(targets, name);
        if (reached.contains(name)) {
            offences.push_back(name + " links itself through others");
        }
        for (const std::string& other : reached) {
            if (is_forbidden_pair(target.room, targets, other)) {
                offences.push_back(name + " links " + other);
            }
        }
        check_rooms(targets, target, offences);
    }
    return offences;
}

}  // namespace orrery::architecture
