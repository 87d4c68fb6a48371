// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/ids.hpp"
#include "base/units.hpp"

#include <cstdint>
#include <span>
#include <string>

namespace orrery {

/// The slowest kind of link that a transfer crosses.
enum class LinkKind : std::uint8_t { Local, Nvlink, Pcie, Nic };

/// Time of one collective over one kind of link, alone on the machine:
///   t = base + step · steps + wire · size / bus_bandwidth
/// with n ranks: steps = 2(n−1) for AllReduce, n−1 for AllGather, ReduceScatter, Broadcast and
/// AllToAll, 1 for SendRecv; wire = 2(n−1)/n for AllReduce, (n−1)/n for AllGather, ReduceScatter,
/// AllToAll, else 1. Source of the factors: nccl-tests doc/PERFORMANCE.md.
struct CollectiveFit {
    Seconds base;
    Seconds step;
    BytesPerSecond bus_bandwidth;
    double sigma = 0.0;  ///< standard deviation of ln(measured / fitted)
};

/// Fits of every collective on one kind of link. bus_bandwidth is of one GPU's attachment (all
/// NVLinks of a GPU; one NIC).
struct LinkFits {
    CollectiveFit all_reduce;
    CollectiveFit all_gather;
    CollectiveFit reduce_scatter;
    CollectiveFit all_to_all;
    CollectiveFit broadcast;
    CollectiveFit send_recv;
    std::int64_t sms = 0;  ///< SMs that a running collective holds
};

/// Where a job runs. Ranks fill nodes in order: rank r sits on node r / gpus_per_node.
struct Cluster {
    std::string preset;  ///< "dgx-h100"
    std::string gpu;     ///< "h100-sxm": names the GPU profile
    std::string fabric;  ///< "ib_ndr_8x400": names the fabric profile
    std::int64_t gpus = 0;
    std::int64_t gpus_per_node = 8;
    std::int64_t gpus_per_domain = 8;  ///< GPUs that reach each other over NVLink
    std::int64_t nics_per_node = 8;
    BytesPerSecond nvlink_bandwidth;  ///< of a GPU, one direction; datasheet
    BytesPerSecond nic_bandwidth;     ///< of a NIC, one direction; datasheet
    LinkFits nvlink;                  ///< from the GPU's profile
    LinkFits nic;                     ///< from the fabric's profile
};

/// How a group of ranks lies on the cluster; all that the analytic network needs of it.
struct GroupPlacement {
    std::int64_t size = 1;
    std::int64_t domains = 1;  ///< NVLink domains it touches
    std::int64_t nodes = 1;
    std::int64_t most_per_domain = 1;  ///< members on its fullest and emptiest NVLink domain
    std::int64_t least_per_domain = 1;

    friend auto operator<=>(const GroupPlacement&, const GroupPlacement&) = default;
};

[[nodiscard]] GroupPlacement place_group(const Cluster& cluster, std::span<const RankId> members);

/// Nvlink within a domain, Nic beyond; Local for a group of one.
[[nodiscard]] LinkKind slowest_link(const GroupPlacement& placement);
[[nodiscard]] LinkKind link_between(const Cluster& cluster, RankId a, RankId b);

}  // namespace orrery
