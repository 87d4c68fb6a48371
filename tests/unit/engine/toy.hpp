// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cluster/cluster.hpp"
#include "cost/contention.hpp"
#include "cost/cost_table.hpp"
#include "engine/engine.hpp"
#include "network/analytic_network.hpp"
#include "program/builder.hpp"

#include <cstdint>
#include <vector>

namespace orrery::toy {

/// Kernel i takes i microseconds; collectives take 2 us + 1 us a megabyte; 10% of 100 SMs while
/// they run.
inline CostTable costs(std::size_t size) {
    CostTable table;
    for (std::size_t i = 0; i < size; ++i) {
        CostRow row;
        row.duration = SimTime::from_ps(static_cast<std::int64_t>(i) * 1'000'000);
        table.push_back(row);
    }
    return table;
}

inline Cluster cluster(std::int64_t gpus, std::int64_t sms) {
    Cluster made;
    made.gpus = gpus;
    const CollectiveFit fit{.base = Seconds(2e-6),
                            .step = Seconds(0.0),
                            .bus_bandwidth = BytesPerSecond(1e12),
                            .sigma = 0.0};
    made.nvlink = {fit, fit, fit, fit, fit, fit, sms};
    made.nic = made.nvlink;
    return made;
}

inline SimTime us(double microseconds) {
    return SimTime::from_ps(static_cast<std::int64_t>(microseconds * 1e6));
}

struct Job {
    Plan plan;
    ProgramSet set;
    std::int64_t sms = 0;
    bool unfolded = false;
    EngineOptions options{
        .record = RecordLevel::Classes, .launch_queue = 1024, .max_steps = 4, .progress = {}};

    [[nodiscard]] RunRecord run() const {
        const RankMesh mesh(plan);
        const Cluster where = cluster(mesh.world_size(), sms);
        AnalyticNetwork network(where);
        const Contention contention(100, 1.0, 0.9);
        const CostTable table = costs(200);
        return run_programs(set, table, fold_ranks(list_rank_groups(mesh), set, where, unfolded),
                            network, contention, options);
    }
};

/// One Program a stage, in order.
inline ProgramSet together(ProgramSetBuilder& shared, std::vector<ProgramBuilder>& builders) {
    ProgramSet set = shared.take();
    for (ProgramBuilder& builder : builders) {
        set.program_of_stage.push_back(set.programs.push_back(builder.take()));
    }
    return set;
}

}  // namespace orrery::toy
