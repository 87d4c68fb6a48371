// SPDX-License-Identifier: Apache-2.0
#include "engine/host_thread.hpp"

#include <algorithm>
#include <iterator>

namespace orrery {

void HostThread::begin_step(SimTime now) {
    runs_.clear();
    causes_.clear();
    last_run_ = 0;
    runs_.push_back({.first = 0, .cause = -1, .start = now});
    next_ = 0;
}

/// Streams ask for instructions near each other, in order: walking from the last answer beats a
/// search.
const HostThread::Run& HostThread::run_of(std::uint32_t instruction) const {
    std::size_t at = std::min(last_run_, runs_.size() - 1);
    while (at > 0 && runs_[at].first > instruction) {
        --at;
    }
    while (at + 1 < runs_.size() && runs_[at + 1].first <= instruction) {
        ++at;
    }
    last_run_ = at;
    return runs_[at];
}

SimTime HostThread::issue_time(const ProgramLayout& layout, std::uint32_t instruction) const {
    const Run& run = run_of(instruction);
    return run.start + (layout.host_time[instruction + 1] - layout.host_time[run.first]);
}

std::optional<FinishedTransfer> HostThread::cause(std::uint32_t instruction) const {
    const Run& run = run_of(instruction);
    if (run.cause < 0) {
        return std::nullopt;
    }
    return causes_[static_cast<std::size_t>(run.cause)];
}

SimTime HostThread::time(const ProgramLayout& layout) const {
    const Run& run = runs_.back();
    return run.start + (layout.host_time[next_] - layout.host_time[run.first]);
}

void HostThread::resume(const ProgramLayout& layout, SimTime now,
                        std::optional<FinishedTransfer> cause) {
    const SimTime own = time(layout);
    if (now <= own) {
        return;  // the wait was over before the host came to it
    }
    Run run{.first = next_, .cause = -1, .start = now};
    if (cause) {
        run.cause = static_cast<std::int32_t>(causes_.size());
        causes_.push_back(*cause);
    }
    if (runs_.back().first == next_) {
        runs_.back() = run;
    } else {
        runs_.push_back(run);
    }
}

void HostThread::forget_before(std::uint32_t instruction) {
    const auto keep =
        std::upper_bound(runs_.begin(), runs_.end(), instruction,
                         [](std::uint32_t wanted, const Run& run) { return wanted < run.first; });
    if (keep != runs_.begin()) {
        runs_.erase(runs_.begin(), std::prev(keep));
        last_run_ = 0;
    }
}

}  // namespace orrery
