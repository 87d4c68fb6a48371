// SPDX-License-Identifier: Apache-2.0
// A run made by hand: tensor 2 × pipeline 2 on four GPUs, a step of 100 ms, figures easy to add up.
#pragma once

#include "cost/cost_table.hpp"
#include "engine/run_record.hpp"
#include "model/training.hpp"
#include "model/transformer.hpp"
#include "plan/plan.hpp"
#include "program/program.hpp"
#include "report/result.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace orrery::test {

inline constexpr std::int64_t kGiB = std::int64_t{1} << 30;
inline constexpr std::int64_t kMiB = std::int64_t{1} << 20;

[[nodiscard]] inline SimTime ms(double value) {
    return SimTime::from_ps(static_cast<std::int64_t>(value * 1e9));
}

/// Everything that summarize reads.
struct Job {
    std::string name = "by-hand";
    Transformer model;
    Training training;
    Plan plan;
    Cluster cluster;
    ProgramSet programs;
    CostTable costs;
    RunRecord record;
    Bytes capacity = Bytes(8.0 * static_cast<double>(kGiB));

    [[nodiscard]] Result summarize() const {
        return orrery::summarize({name, model, training, plan, cluster, capacity,
                                  FlopPerSecond(1e15), programs, costs, record});
    }
};

/// Ranks 0, 1 are stage 0 and ranks 2, 3 stage 1. Folded: two classes of two; unfolded: four of
/// one.
[[nodiscard]] Job make_job(bool unfolded);

}  // namespace orrery::test
