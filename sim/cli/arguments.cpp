// SPDX-License-Identifier: Apache-2.0
#include "base/nearest_name.hpp"
#include "cli/commands.hpp"
#include "cli/output.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <iostream>
#include <iterator>

namespace orrery {

namespace {

constexpr const char* kVersion = "0.1.0";
constexpr const char* kLater = "Not built yet";
constexpr std::array<const char*, 11> kLaterCommands{"sweep",   "plan",   "explain",  "compare",
                                                     "goodput", "cost",   "validate", "collective",
                                                     "kernel",  "export", "fit"};

Diagnostic wrong(const std::string& option, const std::string& message,
                 const std::string& hint = "") {
    Diagnostic diagnostic;
    diagnostic.file = "command line";
    diagnostic.field = option;
    diagnostic.message = message;
    diagnostic.hint = hint;
    return diagnostic;
}

/// Everything that CLI11 fills.
struct Parsed {
    SimulateCommand simulate;
    ListCommand list;
    ScheduleCommand schedule;
    ImportCommand import;
    std::string refused;  ///< values of options that are not built go here and no further
    bool refused_flag = false;
};

void refuse_option(CLI::App& app, Parsed& parsed, const std::string& name,
                   const std::string& does) {
    app.add_option(name, parsed.refused, does)->group(kLater);
}

void add_simulate(CLI::App& app, Parsed& parsed) {
    SimulateCommand& to = parsed.simulate;
    CLI::App* sub =
        app.add_subcommand("simulate", "Simulate one training step and print the report");
    sub->add_option("SCENARIO", to.scenario, "Scenario file (.textproto)")->required();
    sub->add_option("--set", to.overrides,
                    "Override a field: PATH=VALUE, as in plan.tensor=4; repeatable")
        ->type_name("PATH=VALUE")
        ->take_all()
        ->allow_extra_args(false);
    sub->add_option("--json", to.json,
                    "Write every figure as JSON; - is standard output, without the report")
        ->type_name("FILE");
    sub->add_option("--trace", to.trace, "Write the timeline as Chrome JSON (ending .json)")
        ->type_name("FILE");
    sub->add_option("--trace-ranks", to.trace_ranks,
                    "Ranks of the trace, as in 0,8-15 (default: rank 0's pipeline)")
        ->type_name("LIST");
    sub->add_flag("--unfolded", to.unfolded,
                  "Simulate every rank by itself (same figures, slower)");
    sub->add_option("--record", to.record,
                    "Keep timelines: none, classes (default: what --trace needs)")
        ->type_name("LEVEL");
    refuse_option(*sub, parsed, "--out", "Write the result as .orrery");
    refuse_option(*sub, parsed, "--draws", "Draws of --interval");
    refuse_option(*sub, parsed, "--threads", "Workers for draws");
    sub->add_flag("--interval", parsed.refused_flag, "Add the 90% interval")->group(kLater);
    sub->footer(
        "Example:\n"
        "  orrery simulate scenarios/examples/llama3-70b-64xh100.textproto --set plan.tensor=8\n"
        "Exit codes: 0 done; 1 simulated, but does not fit in memory; 2 bad input, or a schedule "
        "file that\n"
        "cannot finish; 3 a fault of ours; 130 stopped by Ctrl-C.");
}

void add_list(CLI::App& app, Parsed& parsed) {
    CLI::App* sub = app.add_subcommand("list", "List what is shipped");
    sub->add_option("KIND", parsed.list.kind,
                    "models, clusters, fabrics, gpus, profiles, schedules or frameworks")
        ->required();
    sub->footer("Example:\n  orrery list models");
}

void add_schedule(CLI::App& app, Parsed& parsed) {
    ScheduleCommand& to = parsed.schedule;
    CLI::App* sub =
        app.add_subcommand("schedule", "Draw a pipeline schedule with its bubble and peaks");
    sub->add_option("KIND", to.kind, "gpipe, one_f_one_b, interleaved or file")->required();
    sub->add_option("--stages", to.stages, "Ranks of the pipeline")->type_name("P");
    sub->add_option("--microbatches", to.microbatches, "Micro-batches of a step")->type_name("M");
    sub->add_option("--virtual", to.virtual_stages, "Chunks a rank (interleaved)")->type_name("V");
    sub->add_option("--group", to.group,
                    "Micro-batches of a group (interleaved; default: the stages)")
        ->type_name("N");
    sub->add_option("--extra-warmup", to.extra_warmup, "More warm-up forwards (interleaved)")
        ->type_name("K");
    sub->add_option("--costs", to.costs, "Durations of one chunk, any unit (default: 1,1,1)")
        ->type_name("F,B,W");
    sub->add_option("--p2p", to.p2p, "Duration of a message, same unit (default: 0)")
        ->type_name("T");
    sub->add_option("--file", to.file,
                    "Order of the passes, one line a stage: F0 F1 BW0 BW1 (file)")
        ->type_name("FILE");
    sub->add_option("--json", to.json, "Write JSON; - is standard output, without the drawing")
        ->type_name("FILE");
    refuse_option(*sub, parsed, "--memory-limit", "Chunks alive until W, for AUTO");
    sub->footer("Example:\n  orrery schedule interleaved --stages 4 --microbatches 8 --virtual 2");
}

void add_import(CLI::App& app, Parsed& parsed) {
    CLI::App* sub =
        app.add_subcommand("import", "Turn a model's config.json into a scenario's model");
    sub->add_option("KIND", parsed.import.kind, "hf-config")->required();
    sub->add_option("FILE", parsed.import.file, "File to read")->required();
    sub->add_option("--out", parsed.import.out, "File to write (default: standard output)")
        ->type_name("FILE");
    sub->footer("Example:\n  orrery import hf-config config.json --out my-model.textproto");
}

std::vector<std::string> option_names(const CLI::App& sub) {
    std::vector<std::string> names;
    for (const CLI::Option* option : sub.get_options()) {
        for (const std::string& name : option->get_lnames()) {
            names.push_back("--" + name);
        }
    }
    return names;
}

/// Options that are not built, and words that nothing takes.
Diagnostics check_words(const CLI::App& sub) {
    Diagnostics found;
    for (const CLI::Option* option : sub.get_options()) {
        if (option->get_group() == kLater && option->count() > 0) {
            found.push_back(wrong(option->get_name(), "is not built yet"));
        }
    }
    for (const std::string& word : sub.remaining()) {
        if (word.rfind('-', 0) == 0 && word != "-") {
            const std::string name = word.substr(0, word.find('='));
            found.push_back(
                wrong("", "unknown option '" + name + "'", name_hint(name, option_names(sub))));
        } else {
            found.push_back(wrong("", "unexpected word '" + word + "'"));
        }
    }
    return found;
}

Answer refusal(const Diagnostics& found) {
    return {to_string(found), ExitCode::BadInput};
}

Command chosen(const CLI::App& app, const Parsed& parsed) {
    if (app.got_subcommand("simulate")) {
        return parsed.simulate;
    }
    if (app.got_subcommand("list")) {
        return parsed.list;
    }
    if (app.got_subcommand("schedule")) {
        return parsed.schedule;
    }
    return parsed.import;
}

/// A first word that is no built command, before CLI11 sees it.
Diagnostics check_command(const CLI::App& app, int argc, const char* const* argv) {
    if (argc < 2 || argv[1][0] == '-') {
        return {};
    }
    const std::string word = argv[1];
    std::vector<std::string> names;
    for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
        names.push_back(sub->get_name());
    }
    if (std::find(names.begin(), names.end(), word) != names.end()) {
        return {};
    }
    if (std::find(kLaterCommands.begin(), kLaterCommands.end(), word) != kLaterCommands.end()) {
        return {wrong("", "orrery " + word + " is not built yet", name_hint("", names))};
    }
    names.insert(names.end(), kLaterCommands.begin(), kLaterCommands.end());
    return {wrong("", "unknown command '" + word + "'", name_hint(word, names))};
}

}  // namespace

Command parse_command_line(int argc, const char* const* argv) {
    Parsed parsed;
    CLI::App app("Orrery simulates the training of large language models on GPU clusters.",
                 "orrery");
    app.set_version_flag("--version", kVersion);
    app.require_subcommand(1);
    app.footer(
        "'orrery COMMAND --help' tells more about each, with an example:\n"
        "  orrery simulate scenarios/examples/llama3-70b-64xh100.textproto");
    add_simulate(app, parsed);
    add_list(app, parsed);
    add_schedule(app, parsed);
    add_import(app, parsed);
    for (CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
        sub->allow_extras();
    }
    const Diagnostics unknown = check_command(app, argc, argv);
    if (!unknown.empty()) {
        return refusal(unknown);
    }
    if (argc < 2) {
        return Answer{app.help(), ExitCode::BadInput};
    }
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        std::ostringstream out;
        std::ostringstream err;
        const bool is_help = app.exit(error, out, err) == 0;
        if (is_help) {
            return Answer{out.str() + "\n", ExitCode::Done};
        }
        return refusal({wrong("", error.what(), "see --help")});
    }
    const Diagnostics found = check_words(*app.get_subcommands().front());
    if (!found.empty()) {
        return refusal(found);
    }
    return chosen(app, parsed);
}

ExitCode run_command(const Answer& answer) {
    (answer.code == ExitCode::Done ? std::cout : std::cerr) << answer.text;
    return answer.code;
}

}  // namespace orrery
