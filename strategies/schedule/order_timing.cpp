// SPDX-License-Identifier: Apache-2.0
#include "strategies/schedule/order_timing.hpp"

#include "base/assert.hpp"

#include <algorithm>

namespace orrery {

namespace {

/// End times of the passes that others wait for, by virtual stage and micro-batch.
class Ends {
  public:
    explicit Ends(const PipelineOrder& order)
        : stages_(static_cast<std::size_t>(order.stages * order.virtual_stages)),
          microbatches_(static_cast<std::size_t>(order.microbatches)),
          forward_(stages_ * microbatches_),
          gradient_(stages_ * microbatches_) {}

    std::optional<double>& forward(std::int64_t virtual_stage, std::int32_t microbatch) {
        return forward_[index(virtual_stage, microbatch)];
    }

    std::optional<double>& gradient(std::int64_t virtual_stage, std::int32_t microbatch) {
        return gradient_[index(virtual_stage, microbatch)];
    }

  private:
    [[nodiscard]] std::size_t index(std::int64_t virtual_stage, std::int32_t microbatch) const {
        const auto k = static_cast<std::size_t>(microbatch);
        ORRERY_ASSERT(k < microbatches_, "an order lists only its own micro-batches");
        return static_cast<std::size_t>(virtual_stage) * microbatches_ + k;
    }

    std::size_t stages_;
    std::size_t microbatches_;
    std::vector<std::optional<double>> forward_;
    std::vector<std::optional<double>> gradient_;
};

double duration(const Pass& pass, const PassCosts& costs) {
    switch (pass.kind) {
        case PassKind::Forward:
            return costs.forward;
        case PassKind::InputGradient:
            return costs.input_gradient;
        case PassKind::WeightGradient:
            return costs.weight_gradient;
        case PassKind::Backward:
            break;
    }
    return costs.input_gradient + costs.weight_gradient;
}

/// Runs the lists by data flow, a rank at a time as far as its inputs reach, until nothing moves.
class Timer {
  public:
    Timer(const PipelineOrder& order, const PassCosts& costs)
        : order_(&order),
          costs_(&costs),
          ends_(order),
          last_stage_(order.stages * order.virtual_stages - 1),
          next_(order.ranks.size()),
          free_at_(order.ranks.size()) {
        timing_.passes.resize(order.ranks.size());
    }

    void run() {
        bool moved = true;
        while (moved) {
            moved = false;
            for (std::size_t r = 0; r < order_->ranks.size(); ++r) {
                while (next_[r] < order_->ranks[r].size() && step(r)) {
                    moved = true;
                }
            }
        }
    }

    /// One diagnostic for each rank that did not finish.
    [[nodiscard]] Diagnostics stuck() {
        Diagnostics wrong;
        for (std::size_t r = 0; r < order_->ranks.size(); ++r) {
            if (next_[r] < order_->ranks[r].size()) {
                const Pass& pass = order_->ranks[r][next_[r]];
                wrong.push_back({"", 0, 0, "",
                                 "stage " + std::to_string(r) + " cannot go on: " + name(pass) +
                                     " waits for " + blocker(r, pass),
                                 "the order cannot finish"});
            }
        }
        return wrong;
    }

    [[nodiscard]] OrderTiming take() { return std::move(timing_); }

  private:
    [[nodiscard]] std::int64_t virtual_stage(std::size_t r, const Pass& pass) const {
        return pass.chunk * order_->stages + static_cast<std::int64_t>(r);
    }

    [[nodiscard]] std::string name(const Pass& pass) const {
        return to_string(pass, order_->virtual_stages > 1);
    }

    /// When the pass's inputs are there; nothing while they are not.
    std::optional<double> ready(std::size_t r, const Pass& pass) {
        const std::int64_t at = virtual_stage(r, pass);
        const double message = order_->stages > 1 ? costs_->p2p : 0.0;
        if (pass.kind == PassKind::Forward) {
            if (at == 0) {
                return 0.0;
            }
            const auto input = ends_.forward(at - 1, pass.microbatch);
            return input ? std::optional(*input + message) : std::nullopt;
        }
        if (pass.kind == PassKind::WeightGradient) {
            return ends_.gradient(at, pass.microbatch);
        }
        const auto own = ends_.forward(at, pass.microbatch);
        if (!own || at == last_stage_) {
            return own;
        }
        const auto gradient = ends_.gradient(at + 1, pass.microbatch);
        return gradient ? std::optional(std::max(*own, *gradient + message)) : std::nullopt;
    }

    std::string blocker(std::size_t r, const Pass& pass) {
        const std::int64_t at = virtual_stage(r, pass);
        const auto on_stage = [&](std::int64_t other, PassKind kind) {
            const Pass wanted{kind, pass.microbatch,
                              static_cast<std::int32_t>(other / order_->stages)};
            return name(wanted) + " on stage " + std::to_string(other % order_->stages);
        };
        if (pass.kind == PassKind::Forward) {
            return on_stage(at - 1, PassKind::Forward);
        }
        if (pass.kind == PassKind::WeightGradient) {
            return on_stage(at, PassKind::InputGradient);
        }
        const bool has_forward = ends_.forward(at, pass.microbatch).has_value();
        return has_forward ? on_stage(at + 1, PassKind::Backward) : on_stage(at, PassKind::Forward);
    }

    bool step(std::size_t r) {
        const Pass& pass = order_->ranks[r][next_[r]];
        const auto inputs = ready(r, pass);
        if (!inputs) {
            return false;
        }
        const double start = std::max(free_at_[r], *inputs);
        const double end = start + duration(pass, *costs_);
        const std::int64_t at = virtual_stage(r, pass);
        if (pass.kind == PassKind::Forward) {
            ends_.forward(at, pass.microbatch) = end;
        } else if (pass.kind != PassKind::WeightGradient) {
            ends_.gradient(at, pass.microbatch) = end;
        }
        timing_.passes[r].push_back({pass, start, end});
        free_at_[r] = end;
        ++next_[r];
        return true;
    }

    const PipelineOrder* order_;
    const PassCosts* costs_;
    Ends ends_;
    std::int64_t last_stage_;
    std::vector<std::size_t> next_;
    std::vector<double> free_at_;
    OrderTiming timing_;
};

/// Most chunks alive on a rank, from the start of F until the end of W (or of B).
std::int64_t peak_alive(const std::vector<Pass>& passes, bool until_b) {
    std::int64_t alive = 0;
    std::int64_t peak = 0;
    for (const Pass& pass : passes) {
        if (pass.kind == PassKind::Forward) {
            peak = std::max(peak, ++alive);
        } else if (pass.kind == PassKind::Backward ||
                   pass.kind == (until_b ? PassKind::InputGradient : PassKind::WeightGradient)) {
            --alive;
        }
    }
    return peak;
}

std::pair<std::int64_t, std::int64_t> messages_sent(const PipelineOrder& order, std::size_t r) {
    std::pair<std::int64_t, std::int64_t> sent{0, 0};
    if (order.stages == 1) {
        return sent;
    }
    for (const Pass& pass : order.ranks[r]) {
        const std::int64_t at = pass.chunk * order.stages + static_cast<std::int64_t>(r);
        if (pass.kind == PassKind::Forward) {
            sent.first += at + 1 < order.stages * order.virtual_stages ? 1 : 0;
        } else if (pass.kind != PassKind::WeightGradient) {
            sent.second += at > 0 ? 1 : 0;
        }
    }
    return sent;
}

}  // namespace

Expected<OrderTiming> time_order(const PipelineOrder& order, const PassCosts& costs) {
    Timer timer(order, costs);
    timer.run();
    if (Diagnostics wrong = timer.stuck(); !wrong.empty()) {
        return fail(std::move(wrong));
    }
    OrderTiming timing = timer.take();
    for (const auto& passes : timing.passes) {
        timing.makespan =
            passes.empty() ? timing.makespan : std::max(timing.makespan, passes.back().end);
    }
    for (std::size_t r = 0; r < order.ranks.size(); ++r) {
        const auto& passes = timing.passes[r];
        double work = 0.0;
        for (const TimedPass& timed : passes) {
            work += duration(timed.pass, costs);
        }
        const double span = passes.empty() ? 0.0 : passes.back().end - passes.front().start;
        timing.span.push_back(span);
        timing.bubble.push_back(span - work);
        timing.idle.push_back(timing.makespan - work);
        timing.peak_activations.push_back(peak_alive(order.ranks[r], false));
        timing.peak_activations_until_b.push_back(peak_alive(order.ranks[r], true));
        timing.messages.push_back(messages_sent(order, r));
    }
    return timing;
}

}  // namespace orrery
