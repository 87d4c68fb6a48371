// SPDX-License-Identifier: Apache-2.0
#include "strategies/schedule/schedule.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

namespace orrery {

namespace {

constexpr const char* kNotation =
    "write F3 (forward of micro-batch 3), B3, W3 or BW3 (backward), F3.1 for chunk 1";

struct Word {
    std::string_view text;
    int column = 0;
};

struct PlacedPass {
    Pass pass;
    int column = 0;
};

struct PlacedLine {
    std::vector<PlacedPass> passes;
    int line = 0;
};

/// Words of a line without its comment ('#' to the end).
std::vector<Word> words_of(std::string_view line) {
    line = line.substr(0, line.find('#'));
    std::vector<Word> words;
    std::size_t at = 0;
    constexpr const char* kBlank = " \t\r,";
    while ((at = line.find_first_not_of(kBlank, at)) != std::string_view::npos) {
        const std::size_t end = std::min(line.find_first_of(kBlank, at), line.size());
        words.push_back({line.substr(at, end - at), static_cast<int>(at) + 1});
        at = end;
    }
    return words;
}

/// Takes a whole number off the front of `text`.
std::optional<std::int32_t> take_number(std::string_view& text) {
    std::int32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || value < 0 || text.front() == '-') {
        return std::nullopt;
    }
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return value;
}

std::optional<Pass> parse_pass(std::string_view text) {
    constexpr std::array<std::pair<std::string_view, PassKind>, 4> kKinds{
        {{"BW", PassKind::Backward},
         {"F", PassKind::Forward},
         {"B", PassKind::InputGradient},
         {"W", PassKind::WeightGradient}}};
    const auto kind = std::find_if(kKinds.begin(), kKinds.end(), [&](const auto& k) {
        return text.substr(0, k.first.size()) == k.first;
    });
    if (kind == kKinds.end()) {
        return std::nullopt;
    }
    text.remove_prefix(kind->first.size());
    const auto microbatch = take_number(text);
    if (!microbatch) {
        return std::nullopt;
    }
    Pass pass{kind->second, *microbatch, 0};
    if (!text.empty() && text.front() == '.') {
        text.remove_prefix(1);
        const auto chunk = take_number(text);
        if (!chunk) {
            return std::nullopt;
        }
        pass.chunk = *chunk;
    }
    return text.empty() ? std::optional(pass) : std::nullopt;
}

/// What has run so far of one micro-batch's chunk.
struct Done {
    bool forward = false;
    bool input_gradient = false;
    bool weight_gradient = false;
};

/// Why `pass` may not come now; empty when it may, and then it is noted in `done`.
std::string refuse(const Pass& pass, Done& done) {
    const bool is_forward = pass.kind == PassKind::Forward;
    const bool has_input = pass.kind == PassKind::InputGradient || pass.kind == PassKind::Backward;
    const bool has_weight =
        pass.kind == PassKind::WeightGradient || pass.kind == PassKind::Backward;
    if ((is_forward && done.forward) || (has_input && done.input_gradient) ||
        (has_weight && done.weight_gradient)) {
        return "comes twice";
    }
    if (!is_forward && !done.forward) {
        return "comes before its forward";
    }
    if (pass.kind == PassKind::WeightGradient && !done.input_gradient) {
        return "comes before its input gradient";
    }
    done.forward = done.forward || is_forward;
    done.input_gradient = done.input_gradient || has_input;
    done.weight_gradient = done.weight_gradient || has_weight;
    return {};
}

/// The first pass that the line lacks; the line has at most its number of words to look through.
std::optional<Pass> first_missing(const std::map<std::pair<std::int32_t, std::int32_t>, Done>& done,
                                  const PipelineOrder& order) {
    for (std::int32_t k = 0; k < order.microbatches; ++k) {
        for (std::int32_t c = 0; c < order.virtual_stages; ++c) {
            const auto found = done.find({k, c});
            if (found == done.end() || !found->second.forward) {
                return Pass{PassKind::Forward, k, c};
            }
            if (!found->second.input_gradient) {
                return Pass{PassKind::Backward, k, c};
            }
            if (!found->second.weight_gradient) {
                return Pass{PassKind::WeightGradient, k, c};
            }
        }
    }
    return std::nullopt;
}

void check_line(const PlacedLine& line, const PipelineOrder& order, const std::string& file,
                Diagnostics& wrong) {
    const bool with_chunk = order.virtual_stages > 1;
    std::map<std::pair<std::int32_t, std::int32_t>, Done> done;
    for (const PlacedPass& placed : line.passes) {
        const std::string why =
            refuse(placed.pass, done[{placed.pass.microbatch, placed.pass.chunk}]);
        if (!why.empty()) {
            wrong.push_back({file, line.line, placed.column, "",
                             to_string(placed.pass, with_chunk) + " " + why, ""});
        }
    }
    if (const auto missing = first_missing(done, order)) {
        const int end = line.passes.empty() ? 1 : line.passes.back().column;
        wrong.push_back({file, line.line, end, "",
                         to_string(*missing, with_chunk) + " is missing: the order has " +
                             std::to_string(order.microbatches) + " micro-batches of " +
                             std::to_string(order.virtual_stages) + " chunks a stage",
                         "every stage lists every pass once"});
    }
}

}  // namespace

std::string to_string(const Pass& pass, bool with_chunk) {
    constexpr std::array<const char*, 4> kKinds{"F", "B", "W", "BW"};
    std::string text =
        kKinds[static_cast<std::size_t>(pass.kind)] + std::to_string(pass.microbatch);
    return with_chunk ? text + "." + std::to_string(pass.chunk) : text;
}

Expected<PipelineOrder> parse_order(const std::vector<std::string>& lines,
                                    const std::string& file) {
    Diagnostics wrong;
    std::vector<PlacedLine> placed_lines;
    PipelineOrder order{0, 1, 1, {}};
    int number = 0;
    for (const std::string& line : lines) {
        ++number;
        PlacedLine placed{{}, number};
        const std::vector<Word> words = words_of(line);
        for (const Word& word : words) {
            if (const auto pass = parse_pass(word.text)) {
                placed.passes.push_back({*pass, word.column});
                order.microbatches =
                    std::max<std::int64_t>(order.microbatches, pass->microbatch + 1LL);
                order.virtual_stages =
                    std::max<std::int64_t>(order.virtual_stages, pass->chunk + 1LL);
            } else {
                wrong.push_back({file, number, word.column, "",
                                 "'" + std::string(word.text) + "' is not a pass", kNotation});
            }
        }
        if (!words.empty()) {
            placed_lines.push_back(std::move(placed));
        }
    }
    if (placed_lines.empty()) {
        wrong.push_back(
            {file, 0, 0, "", "the order has no passes", "one line a stage: F0 F1 BW0 BW1"});
    }
    if (!wrong.empty()) {
        return fail(std::move(wrong));
    }
    order.stages = static_cast<std::int64_t>(placed_lines.size());
    for (const PlacedLine& line : placed_lines) {
        check_line(line, order, file, wrong);
        std::vector<Pass> passes;
        passes.reserve(line.passes.size());
        for (const PlacedPass& placed : line.passes) {
            passes.push_back(placed.pass);
        }
        order.ranks.push_back(std::move(passes));
    }
    if (!wrong.empty()) {
        return fail(std::move(wrong));
    }
    return order;
}

}  // namespace orrery
