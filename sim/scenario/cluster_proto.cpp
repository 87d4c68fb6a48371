// SPDX-License-Identifier: Apache-2.0
#include "scenario/proto_fields.hpp"
#include "schema/scenario.pb.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery {
namespace {

std::int64_t count_gpus(const schema::Cluster& message, std::int64_t gpus_per_node,
                        InputSources& sources) {
    const std::int64_t nodes = message.has_nodes() ? message.nodes() : 1;
    if (message.gpus() == 0) {
        return nodes * gpus_per_node;
    }
    if (message.has_nodes() && message.gpus() > nodes * gpus_per_node) {
        sources.add_error("cluster.gpus", {"cluster.gpus", "cluster.nodes"},
                          fmt::format("gpus = {} are more than {} nodes of {} GPUs hold ({})",
                                      message.gpus(), nodes, gpus_per_node, nodes * gpus_per_node),
                          "leave cluster.nodes unset to take as many as needed");
    }
    return message.gpus();
}

}  // namespace

Cluster read_cluster(const schema::Cluster& message, InputSources& sources) {
    Cluster cluster;
    cluster.preset = message.preset();
    cluster.gpu = message.gpu();
    cluster.fabric = message.fabric();
    if (message.has_gpus_per_node()) {
        cluster.gpus_per_node = message.gpus_per_node();
    }
    cluster.gpus_per_domain =
        message.has_gpus_per_domain() ? message.gpus_per_domain() : cluster.gpus_per_node;
    if (message.has_nics_per_node()) {
        cluster.nics_per_node = message.nics_per_node();
    }
    cluster.gpus = count_gpus(message, cluster.gpus_per_node, sources);
    const std::int64_t larger = std::max(cluster.gpus_per_domain, cluster.gpus_per_node);
    const std::int64_t smaller = std::min(cluster.gpus_per_domain, cluster.gpus_per_node);
    if (larger % smaller != 0) {
        sources.add_error(
            "cluster.gpus_per_domain", {"cluster.gpus_per_domain", "cluster.gpus_per_node"},
            fmt::format("gpus_per_domain = {} and gpus_per_node = {}: one must be a multiple "
                        "of the other",
                        cluster.gpus_per_domain, cluster.gpus_per_node),
            "");
    }
    return cluster;
}

void write_cluster(const Cluster& cluster, schema::Cluster& message) {
    if (!cluster.preset.empty()) {
        message.set_preset(cluster.preset);
    }
    message.set_gpus(cluster.gpus);
    message.set_gpus_per_node(cluster.gpus_per_node);
    message.set_gpus_per_domain(cluster.gpus_per_domain);
    message.set_gpu(cluster.gpu);
    message.set_fabric(cluster.fabric);
    message.set_nics_per_node(cluster.nics_per_node);
}

}  // namespace orrery
