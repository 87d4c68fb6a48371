// SPDX-License-Identifier: Apache-2.0
#include "strategies/schedule/schedule.hpp"

#include "base/nearest_name.hpp"
#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cli/schedule_art.hpp"
#include "strategies/schedule/order_timing.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <iostream>
#include <sstream>

namespace orrery {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kMaxPasses = 10'000'000;

Diagnostic wrong(const std::string& option, const std::string& message,
                 const std::string& hint = "") {
    Diagnostic diagnostic;
    diagnostic.file = "command line";
    diagnostic.field = option;
    diagnostic.message = message;
    diagnostic.hint = hint;
    return diagnostic;
}

Diagnostics check_kind(const std::string& kind) {
    const std::vector<std::string> built{"gpipe", "one_f_one_b", "interleaved", "file"};
    const std::vector<std::string> later{"looped_bfs", "zb_h1",  "zb_h2", "interleaved_zb",
                                         "zb_v",       "v_half", "v_min", "dualpipe",
                                         "dualpipe_v", "auto"};
    if (std::find(built.begin(), built.end(), kind) != built.end()) {
        return {};
    }
    if (std::find(later.begin(), later.end(), kind) != later.end()) {
        return {wrong("", "schedule " + kind + " is not built yet",
                      "built: gpipe, one_f_one_b, interleaved, file")};
    }
    return {wrong("", "unknown schedule '" + kind + "'", name_hint(kind, built))};
}

Diagnostics check_counts(const ScheduleCommand& command) {
    Diagnostics found;
    const bool is_file = command.kind == "file";
    const auto positive = [&](const char* option, std::optional<std::int64_t> value,
                              bool is_needed) {
        if (value && (*value < 1 || *value > kMaxPasses)) {
            found.push_back(wrong(option, fmt::format("{} is out of range", *value),
                                  fmt::format("1 to {}", kMaxPasses)));
        } else if (!value && is_needed) {
            found.push_back(wrong(option, "is needed for schedule " + command.kind));
        }
    };
    positive("--stages", command.stages, !is_file);
    positive("--microbatches", command.microbatches, !is_file);
    positive("--virtual", command.virtual_stages, command.kind == "interleaved");
    positive("--group", command.group, false);
    if (command.extra_warmup && (*command.extra_warmup < 0 || *command.extra_warmup > kMaxPasses)) {
        found.push_back(wrong("--extra-warmup", "must not be negative"));
    }
    return found;
}

Diagnostics check_belonging(const ScheduleCommand& command) {
    Diagnostics found;
    const bool is_interleaved = command.kind == "interleaved";
    const bool is_file = command.kind == "file";
    if (!is_interleaved && command.group) {
        found.push_back(wrong("--group", "only the interleaved schedule has groups"));
    }
    if (!is_interleaved && command.extra_warmup) {
        found.push_back(wrong("--extra-warmup", "only the interleaved schedule has it"));
    }
    if (!is_interleaved && !is_file && command.virtual_stages.value_or(1) != 1) {
        found.push_back(wrong("--virtual", command.kind + " has one chunk a rank",
                              "the interleaved schedule has several"));
    }
    if (is_file && command.file.empty()) {
        found.push_back(wrong("--file", "is needed for schedule file"));
    }
    if (!is_file && !command.file.empty()) {
        found.push_back(wrong("--file", "belongs to 'orrery schedule file'"));
    }
    return found;
}

/// The rules of Megatron-LM's interleaved schedule.
Diagnostics check_interleaved(std::int64_t p, std::int64_t m, std::int64_t group) {
    Diagnostics found;
    if (p < 2) {
        found.push_back(wrong("--stages", "the interleaved schedule needs at least 2 stages"));
    }
    if (group < p || group > m) {
        found.push_back(
            wrong("--group",
                  fmt::format("{} is not from stages = {} to microbatches = {}", group, p, m)));
    } else if (m % group != 0 && m % group < p) {
        found.push_back(
            wrong("--group",
                  fmt::format("microbatches = {} in groups of {} leave {}, fewer than stages = {}",
                              m, group, m % group, p)));
    }
    return found;
}

Expected<PassCosts> parse_costs(const ScheduleCommand& command) {
    std::vector<double> numbers;
    std::istringstream in(command.costs);
    std::string word;
    while (std::getline(in, word, ',')) {
        char* end = nullptr;
        const double value = std::strtod(word.c_str(), &end);
        if (word.empty() || *end != '\0' || !std::isfinite(value) || value < 0.0) {
            return fail(
                wrong("--costs", "'" + word + "' is no duration", "three numbers, F,B,W: 1,1,1"));
        }
        numbers.push_back(value);
    }
    if (numbers.size() == 4) {
        return fail(
            wrong("--costs", "PAIR is of DualPipe, which is not built yet", "F,B,W: 1,1,1"));
    }
    if (numbers.size() != 3) {
        return fail(wrong("--costs", fmt::format("has {} numbers", numbers.size()),
                          "three numbers, F,B,W: 1,1,1"));
    }
    if (numbers[0] + numbers[1] + numbers[2] <= 0.0) {
        return fail(wrong("--costs", "every pass is free: there is nothing to time"));
    }
    if (!std::isfinite(command.p2p) || command.p2p < 0.0) {
        return fail(wrong("--p2p", "must not be negative"));
    }
    return PassCosts{numbers[0], numbers[1], numbers[2], command.p2p};
}

Expected<PipelineOrder> read_order(const ScheduleCommand& command) {
    ORRERY_TRY(text, read_file(command.file));
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
        if (!line.empty() && line.back() == '\r') {
            line.pop_back();
        }
        lines.push_back(line);
    }
    while (!lines.empty() && lines.back().find_first_not_of(" \t") == std::string::npos) {
        lines.pop_back();
    }
    ORRERY_TRY(order, parse_order(lines, command.file));
    Diagnostics found;
    const auto agrees = [&](const char* option, std::optional<std::int64_t> said, std::int64_t is) {
        if (said && *said != is) {
            found.push_back(
                wrong(option, fmt::format("{}, but {} has {}", *said, command.file, is)));
        }
    };
    agrees("--stages", command.stages, order.stages);
    agrees("--microbatches", command.microbatches, order.microbatches);
    agrees("--virtual", command.virtual_stages, order.virtual_stages);
    if (!found.empty()) {
        return fail(std::move(found));
    }
    return order;
}

Expected<PipelineOrder> built_in_order(const ScheduleCommand& command) {
    const std::int64_t p = *command.stages;
    const std::int64_t m = *command.microbatches;
    const std::int64_t v = command.virtual_stages.value_or(1);
    if (p > kMaxPasses / m / v) {
        return fail(wrong(
            "",
            fmt::format("{} stages × {} chunks × {} micro-batches are too many to draw", p, v, m)));
    }
    if (command.kind == "gpipe") {
        return gpipe_order(p, m);
    }
    if (command.kind == "one_f_one_b") {
        return one_f_one_b_order(p, m);
    }
    const std::int64_t group = command.group.value_or(p);
    Diagnostics found = check_interleaved(p, m, group);
    if (!found.empty()) {
        return fail(std::move(found));
    }
    return interleaved_order(p, v, m, group, command.extra_warmup.value_or(0));
}

Expected<PipelineOrder> make_order(const ScheduleCommand& command) {
    Diagnostics found = check_kind(command.kind);
    const auto append = [&found](const Diagnostics& more) {
        found.insert(found.end(), more.begin(), more.end());
    };
    if (found.empty()) {
        append(check_counts(command));
        append(check_belonging(command));
    }
    if (!command.json.empty() && command.json != "-") {
        append(check_writable("--json", command.json));
    }
    if (!found.empty()) {
        return fail(std::move(found));
    }
    return command.kind == "file" ? read_order(command) : built_in_order(command);
}

std::string schedule_json(const std::string& kind, const PipelineOrder& order,
                          const OrderTiming& timing) {
    Json json = Json::object();
    json["schema_version"] = 1;
    json["kind"] = kind;
    json["stages"] = order.stages;
    json["microbatches"] = order.microbatches;
    json["virtual"] = order.virtual_stages;
    json["makespan"] = timing.makespan;
    json["stage_span"] = timing.span;
    json["bubble"] = timing.bubble;
    json["idle"] = timing.idle;
    json["peak_activations"] = timing.peak_activations;
    json["peak_activations_until_b"] = timing.peak_activations_until_b;
    json["messages"] = timing.messages;
    json["order"] = Json::array();
    for (const auto& rank : order.ranks) {
        Json passes = Json::array();
        for (const Pass& pass : rank) {
            passes.push_back(to_string(pass, order.virtual_stages > 1));
        }
        json["order"].push_back(std::move(passes));
    }
    return json.dump(2) + "\n";
}

std::string stage_table(const OrderTiming& timing) {
    std::string text =
        fmt::format("{:>5} {:>10} {:>10} {:>10} {:>7} {:>16} {:>8} {:>17}\n", "stage", "span",
                    "bubble", "idle", "idle", "peak activations", "until B", "messages sent");
    for (std::size_t rank = 0; rank < timing.span.size(); ++rank) {
        const double share = timing.makespan > 0.0 ? timing.idle[rank] / timing.makespan : 0.0;
        const auto [activations, gradients] = timing.messages[rank];
        text +=
            fmt::format("{:>5} {:>10.6g} {:>10.6g} {:>10.6g} {:>6.1f}% {:>16} {:>8} {:>17}\n", rank,
                        timing.span[rank], timing.bubble[rank], timing.idle[rank], 100.0 * share,
                        timing.peak_activations[rank], timing.peak_activations_until_b[rank],
                        fmt::format("{} F, {} B", activations, gradients));
    }
    return text;
}

void print_schedule(const ScheduleCommand& command, const PipelineOrder& order,
                    const PassCosts& costs, const OrderTiming& timing) {
    constexpr int kDrawingWidth = 160;
    const std::string chunks =
        order.virtual_stages > 1 ? fmt::format(" × {} chunks", order.virtual_stages) : "";
    std::cout << fmt::format(
        "{}: {} stages{}, {} micro-batches; a chunk's F {:g}, B {:g}, W {:g}; "
        "a message {:g}\n\n",
        command.kind, order.stages, chunks, order.microbatches, costs.forward, costs.input_gradient,
        costs.weight_gradient, costs.p2p);
    std::cout << draw_schedule(order, timing, output_width(kDrawingWidth), wants_colour());
    std::cout
        << "\nF forward, B input gradient, W weight gradient, BW both, · idle; the number is the "
           "micro-batch"
        << (order.virtual_stages > 1 ? ", .c the chunk" : "") << "\n\n";
    std::cout << fmt::format(
        "makespan {:.6g} (all times in the unit of --costs; activations in chunks)\n",
        timing.makespan);
    std::cout << stage_table(timing);
}

}  // namespace

ExitCode run_command(const ScheduleCommand& command) {
    Diagnostics found;
    const auto order = make_order(command);
    if (!order) {
        found = order.error();
    }
    const auto costs = parse_costs(command);
    if (!costs) {
        found.insert(found.end(), costs.error().begin(), costs.error().end());
    }
    if (!found.empty()) {
        print_errors(found);
        return ExitCode::BadInput;
    }
    const auto timing = time_order(*order, *costs);
    if (!timing) {
        print_errors(timing.error());
        return command.kind == "file" ? ExitCode::BadInput : ExitCode::OurFault;
    }
    if (command.json == "-") {
        std::cout << schedule_json(command.kind, *order, *timing);
        return ExitCode::Done;
    }
    if (!command.json.empty()) {
        const auto written = write_file(command.json, [&](std::ostream& out) {
            out << schedule_json(command.kind, *order, *timing);
        });
        if (!written) {
            print_errors(written.error());
            return ExitCode::BadInput;
        }
    }
    print_schedule(command, *order, *costs, *timing);
    return ExitCode::Done;
}

}  // namespace orrery
