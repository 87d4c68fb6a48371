// SPDX-License-Identifier: Apache-2.0
#include "network/analytic_network.hpp"

#include "base/assert.hpp"

#include <algorithm>
#include <cmath>

namespace orrery {
namespace {

const CollectiveFit& fit_of(const LinkFits& fits, NetworkOp op) {
    switch (op) {
        case NetworkOp::AllReduce:
            return fits.all_reduce;
        case NetworkOp::AllGather:
            return fits.all_gather;
        case NetworkOp::ReduceScatter:
            return fits.reduce_scatter;
        case NetworkOp::Broadcast:
            return fits.broadcast;
        case NetworkOp::AllToAll:
            return fits.all_to_all;
        case NetworkOp::SendRecv:
            return fits.send_recv;
    }
    return fits.send_recv;
}

/// Steps that the ring of `op` takes over n ranks, and how many of them leave an NVLink domain.
struct Steps {
    double all = 0.0;
    double between_domains = 0.0;
};

Steps steps_of(NetworkOp op, const GroupPlacement& placement) {
    const auto n = static_cast<double>(placement.size);
    const auto domains = static_cast<double>(placement.domains);
    switch (op) {
        case NetworkOp::AllReduce:
            return {2.0 * (n - 1.0), 2.0 * (domains - 1.0)};
        case NetworkOp::SendRecv:
            return {1.0, 1.0};
        case NetworkOp::AllToAll:
            return {n - 1.0, n - static_cast<double>(placement.most_per_domain)};
        case NetworkOp::AllGather:
        case NetworkOp::ReduceScatter:
        case NetworkOp::Broadcast:
            break;
    }
    return {n - 1.0, domains - 1.0};
}

/// Bytes on the bottleneck link for a size of 1 (nccl-tests' bus factor).
double wire_factor(NetworkOp op, std::int64_t size) {
    const auto n = static_cast<double>(size);
    switch (op) {
        case NetworkOp::AllReduce:
            return 2.0 * (n - 1.0) / n;
        case NetworkOp::AllGather:
        case NetworkOp::ReduceScatter:
        case NetworkOp::AllToAll:
            return (n - 1.0) / n;
        case NetworkOp::Broadcast:
        case NetworkOp::SendRecv:
            break;
    }
    return 1.0;
}

/// NICs that one ring (or message, or all-to-all) of the group drives on its emptiest NVLink
/// domain.
double nics_driven(const Cluster& cluster, NetworkOp op, const GroupPlacement& placement) {
    const double nics_per_gpu =
        static_cast<double>(cluster.nics_per_node) /
        static_cast<double>(std::max<std::int64_t>(cluster.gpus_per_node, 1));
    const double members =
        op == NetworkOp::SendRecv ? 1.0 : static_cast<double>(placement.least_per_domain);
    return members * nics_per_gpu;
}

/// Double binary tree over the domains, a chain within each: latency grows with log2 of their
/// number, at 92% of the ring's bandwidth and with 2·S on the wire. Source: NCCL 2.30
/// src/graph/tuning.cc (Tree, Simple).
Seconds tree_all_reduce_time(const Cluster& cluster, const NetworkRequest& request,
                             BytesPerSecond ring_bandwidth) {
    constexpr double kTreeShare = 0.92;
    const GroupPlacement& at = request.placement;
    const double hops_inside = 2.0 * static_cast<double>(at.most_per_domain - 1);
    const double hops_between = 2.0 * std::floor(std::log2(static_cast<double>(at.domains)));
    // A wide operation starts no faster than one inside a domain.
    const Seconds base = std::max(cluster.nic.all_reduce.base, cluster.nvlink.all_reduce.base);
    return base + cluster.nvlink.all_reduce.step * hops_inside +
           cluster.nic.all_reduce.step * hops_between +
           Bytes(2.0 * static_cast<double>(request.bytes)) / (ring_bandwidth * kTreeShare);
}

Seconds wide_time(const Cluster& cluster, const NetworkRequest& request) {
    const CollectiveFit& nic = fit_of(cluster.nic, request.op);
    const CollectiveFit& nvlink = fit_of(cluster.nvlink, request.op);
    const Steps steps = steps_of(request.op, request.placement);
    const double size = static_cast<double>(request.bytes);
    BytesPerSecond bandwidth =
        nic.bus_bandwidth * nics_driven(cluster, request.op, request.placement);
    double wire = wire_factor(request.op, request.placement.size);
    if (request.op == NetworkOp::AllToAll) {
        // Only what leaves the domain crosses a NIC: each of its GPUs sends S·(n − g)/n over its
        // own share.
        const auto n = static_cast<double>(request.placement.size);
        const auto g = static_cast<double>(request.placement.least_per_domain);
        wire = (n - g) / n;
        bandwidth = nic.bus_bandwidth * (nics_driven(cluster, request.op, request.placement) / g);
    }
    if (request.placement.most_per_domain > 1) {
        bandwidth = std::min(bandwidth, nvlink.bus_bandwidth);
    }
    const double inside = std::max(0.0, steps.all - steps.between_domains);
    const Seconds ring = nic.base + nic.step * steps.between_domains + nvlink.step * inside +
                         Bytes(wire * size) / bandwidth;
    if (request.op != NetworkOp::AllReduce) {
        return ring;
    }
    return std::min(ring, tree_all_reduce_time(cluster, request, bandwidth));
}

}  // namespace

Seconds analytic_time(const Cluster& cluster, const NetworkRequest& request) {
    if (request.placement.size <= 1) {
        return Seconds(0.0);
    }
    if (slowest_link(request.placement) == LinkKind::Nic) {
        return wide_time(cluster, request);
    }
    const CollectiveFit& fit = fit_of(cluster.nvlink, request.op);
    return fit.base + fit.step * steps_of(request.op, request.placement).all +
           Bytes(wire_factor(request.op, request.placement.size) *
                 static_cast<double>(request.bytes)) /
               fit.bus_bandwidth;
}

AnalyticNetwork::AnalyticNetwork(const Cluster& cluster) : cluster_(cluster) {}

SimTime AnalyticNetwork::time_alone(const NetworkRequest& request) {
    NetworkRequest key = request;
    key.multiplicity = 1;
    const auto [place, is_new] = times_.try_emplace(key);
    if (is_new) {
        place->second = SimTime::from(analytic_time(cluster_, key));
    }
    return place->second;
}

Network::Ticket AnalyticNetwork::start(SimTime now, const NetworkRequest& request) {
    Ticket ticket = next_ticket_;
    if (free_tickets_.empty()) {
        ++next_ticket_;
    } else {
        ticket = free_tickets_.back();
        free_tickets_.pop_back();
    }
    in_flight_.push({now + time_alone(request), sequence_++, ticket});
    return ticket;
}

std::optional<SimTime> AnalyticNetwork::next_completion() const {
    if (in_flight_.empty()) {
        return std::nullopt;
    }
    return in_flight_.top().end;
}

void AnalyticNetwork::complete(SimTime now, std::vector<Ticket>& done) {
    while (!in_flight_.empty() && in_flight_.top().end == now) {
        done.push_back(in_flight_.top().ticket);
        free_tickets_.push_back(in_flight_.top().ticket);
        in_flight_.pop();
    }
}

std::int64_t AnalyticNetwork::sms(const NetworkRequest& request) const {
    switch (slowest_link(request.placement)) {
        case LinkKind::Local:
            return 0;
        case LinkKind::Nvlink:
            // A message uses 1 to 4 channels a peer, a collective all of its channels.
            return request.op == NetworkOp::SendRecv
                       ? std::min<std::int64_t>(4, cluster_.nvlink.sms)
                       : cluster_.nvlink.sms;
        case LinkKind::Pcie:
        case LinkKind::Nic:
            break;
    }
    return request.op == NetworkOp::SendRecv ? std::min<std::int64_t>(2, cluster_.nic.sms)
                                             : cluster_.nic.sms;
}

}  // namespace orrery
