// SPDX-License-Identifier: Apache-2.0
#include "cluster/cluster.hpp"
#include "tests/catch.hpp"

#include <vector>

using namespace orrery;  // NOLINT(google-build-using-namespace)

namespace {

Cluster nodes_of_eight() {
    Cluster cluster;
    cluster.gpus = 32;
    return cluster;
}

}  // namespace

TEST_CASE("a group of every eighth rank has one member on each node") {
    const std::vector<RankId> members{RankId(0U), RankId(8U), RankId(16U), RankId(24U)};
    const GroupPlacement placement = place_group(nodes_of_eight(), members);
    CHECK(placement.size == 4);
    CHECK(placement.nodes == 4);
    CHECK(placement.domains == 4);
    CHECK(placement.most_per_domain == 1);
    CHECK(placement.least_per_domain == 1);
    CHECK(slowest_link(placement) == LinkKind::Nic);
}

TEST_CASE("a group of neighbours inside a node uses NVLink only") {
    const std::vector<RankId> members{RankId(4U), RankId(5U), RankId(6U), RankId(7U)};
    CHECK(slowest_link(place_group(nodes_of_eight(), members)) == LinkKind::Nvlink);
}

TEST_CASE("an uneven group keeps its fullest and emptiest node") {
    const std::vector<RankId> members{RankId(6U), RankId(8U), RankId(9U)};
    const GroupPlacement placement = place_group(nodes_of_eight(), members);
    CHECK(placement.nodes == 2);
    CHECK(placement.most_per_domain == 2);
    CHECK(placement.least_per_domain == 1);
}

TEST_CASE("an NVLink domain of 72 joins GPUs of different nodes") {
    Cluster cluster = nodes_of_eight();
    cluster.gpus_per_node = 4;
    cluster.gpus_per_domain = 72;
    CHECK(link_between(cluster, RankId(0U), RankId(71U)) == LinkKind::Nvlink);
    CHECK(link_between(cluster, RankId(0U), RankId(72U)) == LinkKind::Nic);
    CHECK(link_between(cluster, RankId(5U), RankId(5U)) == LinkKind::Local);
}
