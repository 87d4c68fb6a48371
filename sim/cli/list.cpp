// SPDX-License-Identifier: Apache-2.0
#include "base/nearest_name.hpp"
#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "scenario/scenario.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>

namespace orrery {

namespace {

Expected<std::vector<Shipped>> list_of(const std::string& kind) {
    if (kind == "schedules") {
        return std::vector<Shipped>{
            {"gpipe", "all forwards, then all backwards (arXiv 1811.06965)"},
            {"one_f_one_b", "1F1B: one forward, one backward in turn (arXiv 2006.09503)"},
            {"interleaved", "1F1B over several chunks a rank (arXiv 2104.04473)"},
            {"file", "an order read from a file, one line a stage"},
        };
    }
    if (kind == "profiles") {
        std::vector<Shipped> all;
        for (const char* part : {"gpus", "fabrics", "frameworks"}) {
            ORRERY_TRY(some, list_shipped(part));
            const std::string word = std::string(part, std::string_view(part).size() - 1);
            for (const Shipped& each : some) {
                all.push_back({word + " " + each.name, each.summary});
            }
        }
        return all;
    }
    return list_shipped(kind);
}

}  // namespace

ExitCode run_command(const ListCommand& command) {
    const std::vector<std::string> kinds{"models",   "clusters",  "fabrics",   "gpus",
                                         "profiles", "schedules", "frameworks"};
    if (std::find(kinds.begin(), kinds.end(), command.kind) == kinds.end()) {
        Diagnostic diagnostic;
        diagnostic.file = "command line";
        diagnostic.message = "nothing of the kind '" + command.kind + "' is shipped";
        diagnostic.hint = name_hint(command.kind, kinds);
        print_errors({diagnostic});
        return ExitCode::BadInput;
    }
    const auto shipped = list_of(command.kind);
    if (!shipped) {
        print_errors(shipped.error());
        return ExitCode::BadInput;
    }
    std::size_t width = 0;
    for (const Shipped& each : *shipped) {
        width = std::max(width, each.name.size());
    }
    for (const Shipped& each : *shipped) {
        std::cout << fmt::format("{:<{}}  {}\n", each.name, width, each.summary);
    }
    return ExitCode::Done;
}

}  // namespace orrery
