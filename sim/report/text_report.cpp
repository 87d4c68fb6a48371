// SPDX-License-Identifier: Apache-2.0
#include "base/parse_units.hpp"
#include "model/flop_count.hpp"
#include "report/describe.hpp"
#include "report/layout.hpp"
#include "report/result.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace orrery {

namespace {

constexpr std::size_t kMaxLedgerRows = 6;
constexpr std::size_t kMaxStageRows = 7;
constexpr std::size_t kMaxNotes = 3;

std::string gib(double bytes) {
    return fmt::format("{:.2f} GiB", bytes / 1073741824.0);
}

/// Whole units in groups of three digits.
std::string grouped(double value) {
    std::string digits = fmt::format("{:.0f}", value);
    for (std::size_t at = digits.size(); at > 3; at -= 3) {
        digits.insert(at - 3, ",");
    }
    return digits;
}

std::string percent(double fraction) {
    return fmt::format("{:.1f}%", 100.0 * fraction);
}

/// Rows of the ledger that the report shows as one.
struct MergedRow {
    LedgerRow row;          ///< with the name of the longest
    std::int64_t more = 0;  ///< other names in it
};

/// Writes the report's sections one after another.
class TextReport {
  public:
    TextReport(const Result& result, int width, bool with_colour)
        : result_(&result), width_(std::max(width, 80)), paint_(with_colour) {}

    std::string write() {
        title();
        if (!result_->deadlock.empty()) {
            deadlock();
            return std::move(text_);
        }
        verdict();
        figures();
        times();
        memory();
        ledger();
        sources();
        return std::move(text_);
    }

  private:
    void line(const std::string& text) {
        text_ += text.substr(0, text.find_last_not_of(' ') + 1) + "\n";
    }

    void heading(const std::string& left, const std::string& right = "") {
        text_ += paint_(Colour::Bold, left) + right + "\n";
    }

    void title() {
        heading(result_->scenario);
        for (const std::string& part : result_->description) {
            line(wrap("  ", part, width_, "  "));
        }
        line("");
    }

    void deadlock() {
        line(paint_(Colour::BoldRed, "The step cannot finish: ranks wait for each other"));
        for (const std::string& wait : result_->deadlock) {
            line(wrap("  ", wait, width_, "    "));
        }
    }

    void verdict();
    void figures();
    void times();
    void time_row(const std::string& name, Colour colour, Seconds mean, Seconds worst);
    void memory();
    [[nodiscard]] std::vector<std::string> category_rows() const;
    [[nodiscard]] std::vector<std::string> stage_rows() const;
    [[nodiscard]] std::string stage_row(const StageResult& stage) const;
    void ledger();
    void ledger_row(const MergedRow& merged);
    [[nodiscard]] std::vector<MergedRow> merged_rows() const;
    void smaller_rows(const std::vector<MergedRow>& rows);
    void sources();

    const Result* result_;
    int width_;
    Painter paint_;
    std::string text_;
};

void TextReport::verdict() {
    const Result& r = *result_;
    const auto lead = std::max_element(r.memory_at_peak.begin(), r.memory_at_peak.end());
    const auto category = static_cast<MemoryCategory>(lead - r.memory_at_peak.begin());
    const std::string of =
        fmt::format("{} of {}", gib(r.peak_memory.si()), gib(r.memory_capacity.si()));
    if (r.is_feasible) {
        line(paint_(Colour::BoldGreen, "✔ FITS") +
             fmt::format("  {} at the peak, {} free", of, percent(r.memory_margin)));
    } else if (r.memory_margin >= 0.0) {
        line(paint_(Colour::BoldRed, "✘ DOES NOT FIT") +
             fmt::format("  {} at the peak, but with fragments the allocator needs {}", of,
                         gib(r.peak_reserved.si())));
    } else {
        line(paint_(Colour::BoldRed, "✘ DOES NOT FIT") +
             fmt::format("  {} at the peak, {} too much", of,
                         gib((r.peak_memory - r.memory_capacity).si())));
    }
    line(fmt::format("  decided by rank {} (stage {} of {}), where {} take {}", r.peak_memory_rank,
                     r.peak_memory_stage, r.stages.size(), to_string(category),
                     gib(static_cast<double>(*lead))));
    line("");
}

void TextReport::figures() {
    const Result& r = *result_;
    const auto row = [&](const char* name, const std::string& value, const std::string& meaning) {
        const std::string head = fmt::format("  {} {}  ", fit_left(name, 4), fit_right(value, 8));
        line(wrap(head, meaning, width_, std::string(columns(head), ' ')));
    };
    row("Step", format_seconds(r.step_time),
        fmt::format("{} tokens/s, {} tokens/s per GPU", grouped(r.tokens_per_s),
                    grouped(r.tokens_per_s_per_gpu)));
    row("MFU", percent(r.mfu),
        fmt::format("{:.4g} of {:.4g} TFLOP/s per GPU, dense bf16; {} count, {}FLOP a step",
                    r.model_flop_per_gpu.si() * 1e-12, r.peak_flop.si() * 1e-12,
                    to_string(r.flop_convention), format_count(r.model_flop.si())));
    row("HFU", percent(r.hfu),
        fmt::format("as executed, recomputation included: {}FLOP a step",
                    format_count(r.hardware_flop.si())));
    line("");
}

void TextReport::time_row(const std::string& name, Colour colour, Seconds mean, Seconds worst) {
    const int bar_width = std::max(10, (width_ - 62) / 2);
    const auto column = [&](Seconds time) {
        const double share = time / result_->step_time;
        return fmt::format("{} {} {}", paint_(colour, bar(share, bar_width)),
                           fit_right(format_seconds(time), 9), fit_right(percent(share), 6));
    };
    line(fmt::format("  {} {}   {}", fit_left(name, 20), column(mean), column(worst)));
}

void TextReport::times() {
    const Result& r = *result_;
    const int bar_width = std::max(10, (width_ - 62) / 2);
    heading(fit_left("Where the step goes", 23),
            fit_left(fmt::format("mean of {} ranks", r.gpus), bar_width + 20) +
                fmt::format("busiest: rank {} (stage {})", r.worst_rank, r.worst_stage));
    time_row("compute", Colour::Green, r.compute, r.worst[0]);
    for (std::size_t d = 0; d < kNumDimensions; ++d) {
        if (r.exposed_communication.at(d).si() > 0.0 ||
            r.worst_exposed_communication.at(d).si() > 0.0) {
            time_row(fmt::format("exposed {}", to_string(static_cast<Dimension>(d))),
                     Colour::Yellow, r.exposed_communication.at(d),
                     r.worst_exposed_communication.at(d));
        }
    }
    time_row("bubble", Colour::Red, r.bubble, r.worst[2]);
    time_row("optimizer", Colour::Blue, r.optimizer, r.worst[3]);
    time_row("host", Colour::Magenta, r.host, r.worst[4]);
    line("");
}

std::vector<std::string> TextReport::category_rows() const {
    std::vector<std::string> rows;
    const int bar_width = std::max(8, (width_ - 68) / 2);
    const auto row = [&](const std::string& name, Colour colour, double bytes) {
        rows.push_back(
            fmt::format("  {} {} {}", fit_left(name, 14),
                        paint_(colour, bar(bytes / result_->memory_capacity.si(), bar_width)),
                        fit_right(gib(bytes), 10)));
    };
    for (std::size_t c = 0; c < kNumMemoryCategories; ++c) {
        row(to_string(static_cast<MemoryCategory>(c)), Colour::Cyan,
            static_cast<double>(result_->memory_at_peak.at(c)));
    }
    if (result_->is_reserved_known) {
        row("as reserved", Colour::Blue, result_->peak_reserved.si());
    }
    return rows;
}

std::string TextReport::stage_row(const StageResult& stage) const {
    const double share = stage.peak_memory / result_->memory_capacity;
    const int bar_width = std::max(8, (width_ - 68) / 2);
    return fmt::format("stage {} {} {} {}  {} layer{}", fit_left(std::to_string(stage.stage), 3),
                       paint_(share > 1.0 ? Colour::Red : Colour::Cyan, bar(share, bar_width)),
                       fit_right(gib(stage.peak_memory.si()), 10),
                       fit_right(fmt::format("{:.0f}%", 100.0 * share), 4), stage.layers,
                       stage.layers == 1 ? "" : "s");
}

std::vector<std::string> TextReport::stage_rows() const {
    const std::vector<StageResult>& stages = result_->stages;
    std::vector<bool> is_shown(stages.size(), stages.size() <= kMaxStageRows);
    if (stages.size() > kMaxStageRows) {
        std::vector<std::size_t> fullest(stages.size());
        std::iota(fullest.begin(), fullest.end(), std::size_t{0});
        std::stable_sort(fullest.begin(), fullest.end(), [&](std::size_t a, std::size_t b) {
            return stages[a].peak_memory > stages[b].peak_memory;
        });
        is_shown.front() = true;
        is_shown.back() = true;
        std::size_t num_shown = 2;
        for (std::size_t i = 0; num_shown < kMaxStageRows - 1; ++i) {
            num_shown += is_shown[fullest[i]] ? 0U : 1U;
            is_shown[fullest[i]] = true;
        }
    }
    std::vector<std::string> rows;
    Bytes least_hidden;
    std::size_t num_hidden = 0;
    for (std::size_t s = 0; s < stages.size(); ++s) {
        if (is_shown[s]) {
            rows.push_back(stage_row(stages[s]));
        } else {
            least_hidden = num_hidden == 0 ? stages[s].peak_memory
                                           : std::min(least_hidden, stages[s].peak_memory);
            ++num_hidden;
        }
    }
    if (num_hidden > 0) {
        rows.push_back(
            fmt::format("… {} more stages, from {}", num_hidden, gib(least_hidden.si())));
    }
    return rows;
}

void TextReport::memory() {
    const int left = 28 + std::max(8, (width_ - 68) / 2) + 3;
    const std::string capacity = fmt::format("bars to {}", gib(result_->memory_capacity.si()));
    heading(fit_left(fmt::format("Memory at the peak of rank {}", result_->peak_memory_rank), left),
            fmt::format("peak by stage ({})", capacity));
    const std::vector<std::string> categories = category_rows();
    const std::vector<std::string> stages = stage_rows();
    for (std::size_t i = 0; i < std::max(categories.size(), stages.size()); ++i) {
        std::string text = i < categories.size() ? categories[i] + "   "
                                                 : std::string(static_cast<std::size_t>(left), ' ');
        if (i < stages.size()) {
            text += stages[i];
        }
        line(text);
    }
    line("");
}

void TextReport::ledger_row(const MergedRow& merged) {
    const LedgerRow& row = merged.row;
    const int name_width = width_ - 81;
    const std::string name =
        merged.more == 0 ? row.name
                         : fit_text(row.name, name_width - 4) + fmt::format(" +{}", merged.more);
    line(fmt::format("  {} {} {} {} {} {} {} {} {}", fit_left(to_string(row.dimension), 8),
                     fit_left(to_string(row.collective), 13), fit_left(name, name_width),
                     fit_right(std::to_string(row.group_size), 5),
                     fit_right(format_bytes(Bytes(static_cast<double>(row.bytes_per_call))), 10),
                     fit_right(fmt::format("{:.6g}", row.calls_per_step), 7),
                     fit_left(link_name(row.link), 6), fit_right(format_seconds(row.time), 9),
                     fit_right(format_seconds(row.exposed), 9)));
}

/// Rows that differ by their name alone become one; means become those over all ranks, so that
/// lines add up to the bars above.
std::vector<MergedRow> TextReport::merged_rows() const {
    std::vector<MergedRow> merged;
    for (const LedgerRow& row : result_->communication) {
        const double weight = static_cast<double>(row.ranks) / static_cast<double>(result_->gpus);
        const auto same = std::find_if(merged.begin(), merged.end(), [&](const MergedRow& other) {
            return row.dimension == other.row.dimension && row.collective == other.row.collective &&
                   row.group_size == other.row.group_size &&
                   row.bytes_per_call == other.row.bytes_per_call && row.link == other.row.link;
        });
        if (same == merged.end()) {
            merged.push_back({row, 0});
            merged.back().row.calls_per_step *= weight;
            merged.back().row.time = row.time * weight;
            merged.back().row.exposed = row.exposed * weight;
        } else {
            ++same->more;
            same->row.calls_per_step += row.calls_per_step * weight;
            same->row.time += row.time * weight;
            same->row.exposed += row.exposed * weight;
        }
    }
    std::stable_sort(merged.begin(), merged.end(), [](const MergedRow& a, const MergedRow& b) {
        return a.row.time > b.row.time;
    });
    return merged;
}

void TextReport::smaller_rows(const std::vector<MergedRow>& rows) {
    Seconds time;
    Seconds exposed;
    for (std::size_t i = kMaxLedgerRows; i < rows.size(); ++i) {
        time += rows[i].row.time;
        exposed += rows[i].row.exposed;
    }
    const std::string name = fmt::format("  {} smaller ones", rows.size() - kMaxLedgerRows);
    line(fmt::format("{} {} {}", fit_left(name, width_ - 22), fit_right(format_seconds(time), 9),
                     fit_right(format_seconds(exposed), 9)));
}

void TextReport::ledger() {
    const std::vector<MergedRow> rows = merged_rows();
    if (rows.empty()) {
        heading("Communication", "  none: every group has one rank");
        return;
    }
    const std::string title = fmt::format("Communication of the mean rank, {} hidden",
                                          percent(result_->overlap_fraction));
    heading(fit_left(title, width_ - 54), "group  bytes/call   calls link        time   exposed");
    for (std::size_t i = 0; i < std::min(rows.size(), kMaxLedgerRows); ++i) {
        ledger_row(rows[i]);
    }
    if (rows.size() > kMaxLedgerRows) {
        smaller_rows(rows);
    }
}

void TextReport::sources() {
    const Result& r = *result_;
    line(paint_(Colour::Bold, "Kernel time") +
         fmt::format("  {} measured, {} interpolated, {} roofline",
                     percent(r.kernel_time_source[0]), percent(r.kernel_time_source[1]),
                     percent(r.kernel_time_source[2])));
    for (std::size_t i = 0; i < std::min(r.notes.size(), kMaxNotes); ++i) {
        line("  · " + fit_text(r.notes[i], width_ - 4));
    }
    if (r.notes.size() > kMaxNotes) {
        line(fmt::format("  · {} more notes in --json", r.notes.size() - kMaxNotes));
    }
    line(paint_(Colour::Dim, fmt::format("{} events, {} of {} ranks simulated, {} step{}, in {}",
                                         r.events, r.simulated_ranks, r.gpus, r.steps_simulated,
                                         r.steps_simulated == 1 ? "" : "s",
                                         format_seconds(Seconds(r.wall_time)))));
}

}  // namespace

std::string text_report(const Result& result, int width, bool with_colour) {
    return TextReport(result, width, with_colour).write();
}

}  // namespace orrery
