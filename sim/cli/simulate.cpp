// SPDX-License-Identifier: Apache-2.0
#include "run/simulate.hpp"

#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "plan/rank_mesh.hpp"
#include "report/chrome_trace.hpp"
#include "report/result.hpp"
#include "scenario/scenario.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <iostream>
#include <set>
#include <utility>

namespace orrery {

namespace {

constexpr int kReportWidth = 100;

Diagnostic wrong(const std::string& option, const std::string& message,
                 const std::string& hint = "") {
    Diagnostic diagnostic;
    diagnostic.file = "command line";
    diagnostic.field = option;
    diagnostic.message = message;
    diagnostic.hint = hint;
    return diagnostic;
}

void append(Diagnostics& all, const Diagnostics& more) {
    all.insert(all.end(), more.begin(), more.end());
}

bool is_same_file(const std::string& a, const std::string& b) {
    std::error_code ignored;
    return !a.empty() && !b.empty() &&
           std::filesystem::weakly_canonical(std::filesystem::absolute(a), ignored) ==
               std::filesystem::weakly_canonical(std::filesystem::absolute(b), ignored);
}

/// What is wrong with the options by themselves.
Diagnostics check_options(const SimulateCommand& command) {
    Diagnostics found;
    if (command.record && *command.record != "none" && *command.record != "classes") {
        found.push_back(*command.record == "ranks"
                            ? wrong("--record", "'ranks' is not built yet", "valid: none, classes")
                            : wrong("--record", "unknown level '" + *command.record + "'",
                                    "valid: none, classes"));
    }
    if (!command.json.empty() && command.json != "-") {
        append(found, check_writable("--json", command.json));
    }
    for (const auto& [option, path] :
         {std::pair{"--json", command.json}, std::pair{"--trace", command.trace}}) {
        if (is_same_file(path, command.scenario)) {
            found.push_back(wrong(option, path + " is the scenario itself"));
        }
    }
    if (is_same_file(command.json, command.trace)) {
        found.push_back(wrong("--trace", command.trace + " is the file of --json, too"));
    }
    if (command.trace.empty()) {
        if (command.trace_ranks) {
            found.push_back(wrong("--trace-ranks", "needs --trace"));
        }
        return found;
    }
    const std::string ending = std::filesystem::path(command.trace).extension().string();
    if (ending == ".pftrace") {
        found.push_back(wrong("--trace", ".pftrace is not built yet", "valid endings: .json"));
    } else if (ending != ".json") {
        found.push_back(wrong("--trace", "the ending says the format: '" + ending + "' is unknown",
                              "valid endings: .json"));
    } else {
        append(found, check_writable("--trace", command.trace));
    }
    if (command.record == "none") {
        found.push_back(wrong("--record", "a trace needs --record classes"));
    }
    return found;
}

/// The scenario, or everything that is wrong with the options and with it.
Expected<Scenario> load(const SimulateCommand& command) {
    Diagnostics found = check_options(command);
    std::vector<Override> overrides;
    for (const std::string& text : command.overrides) {
        auto parsed = parse_override(text);
        if (parsed) {
            overrides.push_back(*parsed);
        } else {
            append(found, parsed.error());
        }
    }
    auto scenario = load_scenario(command.scenario, overrides);
    if (!scenario) {
        append(found, scenario.error());
    } else if (command.trace_ranks) {
        const auto ranks = parse_ranks(*command.trace_ranks, scenario->cluster.gpus);
        if (!ranks) {
            append(found, ranks.error());
        }
    }
    if (!found.empty()) {
        return fail(std::move(found));
    }
    return scenario;
}

ExitCode report_deadlock(const Scenario& scenario, const Result& result) {
    std::cerr << text_report(result, kReportWidth, false);
    if (scenario.plan.schedule == ScheduleKind::File) {
        std::cerr << "The order of " << scenario.plan.schedule_file << " cannot run.\n";
        return ExitCode::BadInput;
    }
    std::cerr << "A built-in schedule must always finish: this is a fault of ours.\n";
    return ExitCode::OurFault;
}

/// Writes the files; what could not be written.
Diagnostics write_files(const SimulateCommand& command, const Scenario& scenario,
                        const Simulation& simulation) {
    Diagnostics found;
    if (!command.json.empty() && command.json != "-") {
        const auto written = write_file(
            command.json, [&](std::ostream& out) { out << json_report(simulation.result); });
        append(found, written ? Diagnostics{} : written.error());
    }
    if (!command.trace.empty()) {
        const RankMesh mesh(scenario.plan);
        const std::vector<RankId> ranks =
            command.trace_ranks ? *parse_ranks(*command.trace_ranks, scenario.cluster.gpus)
                                : mesh.group(GroupKind::Pipeline, RankId());
        const auto written = write_file(command.trace, [&](std::ostream& out) {
            write_chrome_trace(out, simulation.built.programs, simulation.built.costs,
                               simulation.record, mesh, ranks);
        });
        append(found, written ? Diagnostics{} : written.error());
    }
    return found;
}

Expected<Simulation> simulate_with_progress(const SimulateCommand& command,
                                            const Scenario& scenario) {
    const bool records = !command.trace.empty() || command.record == "classes";
    const InterruptGuard interrupts;
    ProgressBar bar("simulating");
    SimulateOptions options;
    options.unfolded = command.unfolded;
    options.record = records ? RecordLevel::Classes : RecordLevel::None;
    options.progress = [&](double done) {
        bar.show(done);
        return !InterruptGuard::is_interrupted();
    };
    return simulate(scenario, options);
}

}  // namespace

Expected<std::vector<RankId>> parse_ranks(const std::string& text, std::int64_t world_size) {
    std::set<RankId> ranks;
    const char* at = text.data();
    const char* const end = at + text.size();
    const auto number = [&](std::int64_t& value) {
        const auto [next, error] = std::from_chars(at, end, value);
        const bool is_read = error == std::errc() && value >= 0;
        at = next;
        return is_read;
    };
    while (true) {
        std::int64_t first = 0;
        bool is_well_formed = number(first);
        std::int64_t last = first;
        if (is_well_formed && at != end && *at == '-') {
            ++at;
            is_well_formed = number(last) && last >= first;
        }
        if (!is_well_formed || (at != end && *at != ',')) {
            return fail(
                wrong("--trace-ranks", "'" + text + "' is no list of ranks", "as in 0,8-15"));
        }
        if (last >= world_size) {
            return fail(wrong("--trace-ranks", fmt::format("rank {} is not in the job", last),
                              fmt::format("ranks are 0 to {}", world_size - 1)));
        }
        for (std::int64_t rank = first; rank <= last; ++rank) {
            ranks.insert(RankId(static_cast<std::uint32_t>(rank)));
        }
        if (at == end) {
            return std::vector<RankId>(ranks.begin(), ranks.end());
        }
        ++at;
    }
}

ExitCode run_command(const SimulateCommand& command) {
    const auto scenario = load(command);
    if (!scenario) {
        print_errors(scenario.error());
        return ExitCode::BadInput;
    }
    const Expected<Simulation> simulated = simulate_with_progress(command, *scenario);
    if (!simulated) {
        print_errors(simulated.error());
        return ExitCode::BadInput;
    }
    const Simulation& simulation = *simulated;
    if (simulation.record.is_stopped) {
        std::cerr << "stopped; nothing was written\n";
        return ExitCode::Stopped;
    }
    if (!simulation.result.deadlock.empty()) {
        return report_deadlock(*scenario, simulation.result);
    }
    const Diagnostics unwritten = write_files(command, *scenario, simulation);
    if (command.json == "-") {
        std::cout << json_report(simulation.result);
    } else {
        const int width = std::min(output_width(kReportWidth), 140);
        std::cout << text_report(simulation.result, width, wants_colour());
    }
    if (!unwritten.empty()) {
        print_errors(unwritten);
        return ExitCode::BadInput;
    }
    return simulation.result.is_feasible ? ExitCode::Done : ExitCode::DoesNotFit;
}

}  // namespace orrery
