// SPDX-License-Identifier: Apache-2.0
#include "cluster/cluster.hpp"

#include "base/assert.hpp"

#include <algorithm>
#include <map>

namespace orrery {
namespace {

std::int64_t node_of(const Cluster& cluster, RankId rank) {
    return static_cast<std::int64_t>(rank.value()) / cluster.gpus_per_node;
}

std::int64_t domain_of(const Cluster& cluster, RankId rank) {
    return static_cast<std::int64_t>(rank.value()) / cluster.gpus_per_domain;
}

}  // namespace

GroupPlacement place_group(const Cluster& cluster, std::span<const RankId> members) {
    ORRERY_ASSERT(!members.empty(), "a group has at least the rank that asks");
    std::map<std::int64_t, std::int64_t> on_node;
    std::map<std::int64_t, std::int64_t> in_domain;
    for (const RankId member : members) {
        ++on_node[node_of(cluster, member)];
        ++in_domain[domain_of(cluster, member)];
    }
    GroupPlacement placement{.size = static_cast<std::int64_t>(members.size()),
                             .domains = static_cast<std::int64_t>(in_domain.size()),
                             .nodes = static_cast<std::int64_t>(on_node.size()),
                             .most_per_domain = 0,
                             .least_per_domain = static_cast<std::int64_t>(members.size())};
    for (const auto& [domain, count] : in_domain) {
        placement.most_per_domain = std::max(placement.most_per_domain, count);
        placement.least_per_domain = std::min(placement.least_per_domain, count);
    }
    return placement;
}

LinkKind slowest_link(const GroupPlacement& placement) {
    if (placement.size <= 1) {
        return LinkKind::Local;
    }
    return placement.domains <= 1 ? LinkKind::Nvlink : LinkKind::Nic;
}

LinkKind link_between(const Cluster& cluster, RankId a, RankId b) {
    if (a == b) {
        return LinkKind::Local;
    }
    return domain_of(cluster, a) == domain_of(cluster, b) ? LinkKind::Nvlink : LinkKind::Nic;
}

}  // namespace orrery
