// SPDX-License-Identifier: Apache-2.0
#include "engine/step_control.hpp"

#include <algorithm>
#include <utility>

namespace orrery {

StepControl::StepControl(bool crosses_border, std::int64_t max_steps, std::size_t num_classes)
    : crosses_border_(crosses_border),
      max_steps_(std::max<std::int64_t>(1, max_steps)),
      num_classes_(num_classes) {}

void StepControl::finish(std::int64_t step, SimTime now, SimTime own_time) {
    const auto index = static_cast<std::size_t>(step - 1);
    if (open_.size() <= index) {
        open_.resize(index + 1);
    }
    Open& open = open_[index];
    open.shortest = open.finished == 0 ? own_time : std::min(open.shortest, own_time);
    open.longest = open.finished == 0 ? own_time : std::max(open.longest, own_time);
    open.end = std::max(open.end, now);
    ++open.finished;
    // Classes finish steps in order, so steps are closed in order too.
    if (open.finished == num_classes_) {
        close(open);
    }
}

void StepControl::close(const Open& step) {
    const SimTime before = ends_.empty() ? SimTime() : ends_.back();
    ends_.push_back(step.end);
    is_uniform_.push_back(step.shortest == step.longest && step.longest == step.end - before);
    if (!crosses_border_) {
        is_over_ = true;
        is_steady_ = true;
        return;
    }
    const std::size_t n = ends_.size();
    if (n >= 2) {
        const SimTime earlier = n >= 3 ? ends_[n - 3] : SimTime();
        const bool is_same = ends_[n - 1] - ends_[n - 2] == ends_[n - 2] - earlier;
        is_steady_ = is_same && is_uniform_.back();
    }
    is_over_ = is_steady_ || static_cast<std::int64_t>(n) >= max_steps_;
}

bool StepControl::may_begin(std::int64_t step) const {
    return !is_over_ && crosses_border_ && step <= max_steps_;
}

void StepControl::conclude(RunRecord& record, std::vector<RankState>& ranks, SimTime now) const {
    const std::size_t n = ends_.size();
    const bool is_finished = n > 0;
    record.is_steady = is_steady_;
    record.step_start = n >= 2 ? ends_[n - 2] : SimTime();
    record.step_time = (is_finished ? ends_[n - 1] : now) - record.step_start;
    record.fingerprint = 0;
    for (RankState& rank : ranks) {
        ClassRecord own = is_finished ? std::move(rank.finished[n - 1]) : std::move(rank.record);
        if (!is_finished) {
            own.memory = rank.ledger.finish_step();
            own.end = now;
        }
        // A rank that is done before the step is waits for another stage.
        own.split.bubble += record.step_time - own.split.total();
        record.fingerprint +=
            static_cast<std::uint64_t>(rank.count) * (is_finished ? rank.hashes[n - 1] : rank.hash);
        record.classes.push_back(std::move(own));
    }
}

}  // namespace orrery
