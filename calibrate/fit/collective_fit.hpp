// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/diagnostic.hpp"
#include "base/units.hpp"
#include "calibrate/fit/nelder_mead.hpp"
#include "cluster/cluster.hpp"
#include "cost/csv_table.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace orrery {

/// One measured collective.
struct CollectivePoint {
    std::string
        op;  ///< nccl-tests' word: all_reduce, all_gather, reduce_scatter, alltoall, send_recv
    std::int64_t ranks = 0;
    std::int64_t nodes = 0;
    Bytes size;  ///< nccl-tests' size
    Seconds time;
    std::string fabric;
    std::string dtype;
    std::string source;
    bool nvls = true;
};

/// Rows of op,nranks,nodes,bytes,time_us,dtype,fabric,nvls,source. Errors: missing columns, a row
/// without positive numbers.
[[nodiscard]] Expected<std::vector<CollectivePoint>> read_collectives(const CsvTable& table);

/// Ring steps and bus factor of nccl-tests for an op over n ranks; as CollectiveFit defines them.
[[nodiscard]] double collective_steps(const std::string& op, std::int64_t ranks);
[[nodiscard]] double collective_wire(const std::string& op, std::int64_t ranks);

/// t = base + step · steps + wire · size / bus_bandwidth.
[[nodiscard]] Seconds collective_closed_form(const CollectiveFit& fit,
                                             const CollectivePoint& point);

/// Fit of `op` over one node's points (NVLink, NVLS on). Points of 1 MiB and more count twice,
/// of 16 MiB and more six times, and those of the most ranks twice that: large messages in whole
/// islands are what training sends. Least weighted mean |ln|. Points of another op are ignored.
/// Requires: some points are of this op.
[[nodiscard]] CollectiveFit fit_collective(const std::vector<CollectivePoint>& points,
                                           const std::string& op);

[[nodiscard]] FitQuality collective_quality(const CollectiveFit& fit,
                                            const std::vector<CollectivePoint>& points,
                                            const std::string& op);

}  // namespace orrery
