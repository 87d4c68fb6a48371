// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/diagnostic.hpp"
#include "base/ids.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace orrery {

/// What the process returns.
enum class ExitCode : int {
    Done = 0,
    DoesNotFit = 1,  ///< simulated, the report is written, the plan exceeds the memory
    BadInput = 2,    ///< nothing was written
    OurFault = 3,    ///< also: a built-in schedule that cannot finish
    Stopped = 130    ///< Ctrl-C
};

/// `orrery simulate`.
struct SimulateCommand {
    std::string scenario;
    std::vector<std::string> overrides;      ///< "PATH=VALUE"
    std::string json;                        ///< file, "-" for standard output, empty for none
    std::string trace;                       ///< file ending in .json, empty for none
    std::optional<std::string> trace_ranks;  ///< "0,8-15"; unset: the pipeline of rank 0
    bool unfolded = false;
    std::optional<std::string> record;  ///< "none", "classes"
};

/// `orrery list`.
struct ListCommand {
    std::string kind;
};

/// `orrery schedule`. Unset numbers take the kind's default, or the file's.
struct ScheduleCommand {
    std::string kind;
    std::optional<std::int64_t> stages;
    std::optional<std::int64_t> microbatches;
    std::optional<std::int64_t> virtual_stages;
    std::optional<std::int64_t> group;
    std::optional<std::int64_t> extra_warmup;
    std::string costs = "1,1,1";  ///< F,B,W of one chunk, any unit of time
    double p2p = 0.0;
    std::string file;
    std::string json;
};

/// `orrery import`.
struct ImportCommand {
    std::string kind;
    std::string file;
    std::string out;
};

/// The command line asked for text only (help, version), or was wrong.
struct Answer {
    std::string text;
    ExitCode code = ExitCode::Done;
};

using Command = std::variant<SimulateCommand, ListCommand, ScheduleCommand, ImportCommand, Answer>;

/// Reads the command line. Options and commands that are planned but not built are refused by name,
/// in one Answer with everything else that is wrong.
[[nodiscard]] Command parse_command_line(int argc, const char* const* argv);

[[nodiscard]] ExitCode run_command(const SimulateCommand& command);
[[nodiscard]] ExitCode run_command(const ListCommand& command);
[[nodiscard]] ExitCode run_command(const ScheduleCommand& command);
[[nodiscard]] ExitCode run_command(const ImportCommand& command);
[[nodiscard]] ExitCode run_command(const Answer& answer);

/// "0,8-15" → ranks, ascending, each once. Errors: not a list of ranks, a rank outside the job.
[[nodiscard]] Expected<std::vector<RankId>> parse_ranks(const std::string& text,
                                                        std::int64_t world_size);

}  // namespace orrery
