// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/sim_time.hpp"
#include "engine/rank_state.hpp"
#include "engine/run_record.hpp"

#include <cstdint>
#include <vector>

namespace orrery {

/// Decides which steps are simulated. Where nothing crosses the step's border the first is the
/// steady one; else steps go on, each rank from its own end, until two in a row take the same time
/// for every rank, or `max_steps` are done.
class StepControl {
  public:
    StepControl(bool crosses_border, std::int64_t max_steps, std::size_t num_classes);

    /// A class has finished its `step` (from 1) at `now`, `own_time` after it had begun it.
    void finish(std::int64_t step, SimTime now, SimTime own_time);

    [[nodiscard]] bool may_begin(std::int64_t step) const;

    [[nodiscard]] bool is_over() const { return is_over_; }

    /// The last step that every class finished; 0 if none.
    [[nodiscard]] std::int64_t last() const { return static_cast<std::int64_t>(ends_.size()); }

    [[nodiscard]] std::int64_t expected_steps() const { return crosses_border_ ? 3 : 1; }

    /// Fills the record from the last finished step: times, class records, fingerprint. Without a
    /// finished step (deadlock, stop) from the one that runs.
    void conclude(RunRecord& record, std::vector<RankState>& ranks, SimTime now) const;

  private:
    struct Open {
        std::size_t finished = 0;
        SimTime end;
        SimTime shortest;
        SimTime longest;
    };

    void close(const Open& step);

    bool crosses_border_;
    std::int64_t max_steps_;
    std::size_t num_classes_;
    std::vector<Open> open_;        ///< by step − 1
    std::vector<SimTime> ends_;     ///< of finished steps
    std::vector<bool> is_uniform_;  ///< every rank took the step's own time
    bool is_over_ = false;
    bool is_steady_ = false;
};

}  // namespace orrery
