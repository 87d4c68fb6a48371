// SPDX-License-Identifier: Apache-2.0
#include "calibrate/fit/collective_fit.hpp"
#include "calibrate/fit/fit_proto.hpp"
#include "calibrate/fit/profile_maker.hpp"
#include "schema/fabric_profile.pb.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace orrery {
namespace {

/// Latency that a ring's step between nodes adds; NCCL 2.30 src/graph/tuning.cc, hardware latencies
/// of the network: rings with the Simple protocol, which large messages use; small all-reduces run
/// as LL trees.
constexpr Seconds kRingStep(14e-6);
constexpr Seconds kReduceStep(2.7e-6);
constexpr Seconds kPeerStep(0.5e-6);
constexpr double kSmallBytes = 16.0 * 1024.0;
constexpr double kLargeBytes = 256.0 * 1048576.0;
constexpr double kUnmeasuredSigma = 0.25;
/// An acceptance report's first environment: its all-to-all and messages reach half of what the
/// report's tuned one does (69 GB/s bus bandwidth, 37 GB/s a NIC). Starts are taken from it, rates
/// are not.
constexpr const char* kUntuned = " env1";
/// Share of its rate that a NIC gives at least and at most, where only what is above the rate was
/// measured.
constexpr double kLeastShare = 0.82;
constexpr double kMostShare = 0.96;

struct Measured {
    std::vector<CollectivePoint> points;
    LinkFits nvlink;
    std::string gpu;
};

/// Every multi-node point on this fabric, by GPU.
Expected<std::vector<Measured>> points_on(const CalibrationFolder& folder,
                                          const KnownFabric& fabric) {
    constexpr std::array<std::string_view, 5> kGpus{"a100-sxm-80g", "h100-sxm", "h200", "b200",
                                                    "gb200"};
    std::vector<Measured> all;
    for (const std::string_view name : kGpus) {
        const KnownGpu& gpu = known_gpu(name);
        Measured measured{.points = {}, .nvlink = {}, .gpu = std::string(name)};
        for (const char* nodes : {"_2n", "_4n"}) {
            const std::string file = "collectives_" + std::string(gpu.table) + nodes;
            if (!folder.has(file)) {
                continue;
            }
            ORRERY_TRY(table, folder.table(file));
            ORRERY_TRY(points, read_collectives(table));
            std::ranges::copy_if(points, std::back_inserter(measured.points),
                                 [&](const auto& point) { return point.fabric == fabric.name; });
        }
        if (!measured.points.empty()) {
            ORRERY_TRY(nvlink, fit_nvlink(folder, gpu));
            measured.nvlink = nvlink.fits;
            all.push_back(measured);
        }
    }
    return all;
}

Seconds ring_latency(const CollectivePoint& point, const CollectiveFit& fit,
                     const CollectiveFit& nvlink) {
    const auto n = static_cast<double>(point.ranks);
    const auto nodes = static_cast<double>(point.nodes);
    double between = point.op == "all_reduce" ? 2.0 * (nodes - 1.0) : nodes - 1.0;
    if (point.op == "alltoall") {
        between = n - n / nodes;
    }
    const double all = collective_steps(point.op, point.ranks);
    if (point.op == "send_recv") {
        return fit.step;
    }
    return fit.step * between + nvlink.step * std::max(0.0, all - between);
}

/// Rate of one NIC that a large point shows; see `make_fabric_profile`.
double nic_share(const CollectivePoint& point, Seconds latency, const KnownFabric& fabric) {
    const auto n = static_cast<double>(point.ranks);
    const auto nodes = static_cast<double>(point.nodes);
    const double per_node = n / nodes;
    double bytes = point.size.si() * collective_wire(point.op, point.ranks);
    auto nics = static_cast<double>(fabric.nics);
    if (point.op == "alltoall") {
        bytes = point.size.si() * (n - per_node) / n;
        nics /= per_node;
    } else if (point.op == "send_recv") {
        nics /= per_node;
    }
    const double rate = fabric.nic_gbps * 1e9 / 8.0;
    const double share = bytes / ((point.time - latency).si() * nics * rate);
    if (point.op == "all_reduce" && share > kMostShare) {
        // Above the NICs' rate the nodes reduced first: only 2(N−1)/N of the size crossed the NICs.
        const double crossed = (nodes - 1.0) / nodes * n / (n - 1.0);
        return std::clamp(share * crossed, kLeastShare, kMostShare);
    }
    return std::min(share, 1.0);
}

struct OpFit {
    CollectiveFit fit;
    Origin origin;
    bool has_base = false;  ///< its start was measured
    bool is_ring = false;   ///< starts as another ring does
};

OpFit fit_op(const std::string& op, const std::vector<Measured>& all, const KnownFabric& fabric,
             Seconds step) {
    CollectiveFit fit{
        .base = Seconds(fabric.base_us * 1e-6), .step = step, .bus_bandwidth = {}, .sigma = 0.0};
    const bool is_ring = op != "alltoall" && op != "send_recv";
    std::vector<double> bases;
    std::vector<double> shares;
    std::string gpus;
    std::string source;
    for (const Measured& measured : all) {
        const CollectiveFit& nvlink = op == "all_reduce"   ? measured.nvlink.all_reduce
                                      : op == "all_gather" ? measured.nvlink.all_gather
                                      : op == "alltoall"   ? measured.nvlink.all_to_all
                                                           : measured.nvlink.send_recv;
        for (const CollectivePoint& point : measured.points) {
            if (point.op != op) {
                continue;
            }
            const Seconds latency = ring_latency(point, fit, nvlink);
            if (point.size.si() <= kSmallBytes) {
                bases.push_back((point.time - latency).si());
            } else if (point.size.si() >= kLargeBytes &&
                       point.source.find(kUntuned) == std::string::npos) {
                shares.push_back(nic_share(point, latency, fabric));
            }
            if (gpus.find(measured.gpu) == std::string::npos) {
                gpus += (gpus.empty() ? "" : ", ") + measured.gpu;
            }
            if (source.find(point.source) == std::string::npos) {
                source += (source.empty() ? "" : "; ") + point.source;
            }
        }
    }
    fit.base = bases.empty() ? fit.base : Seconds(std::max(median(bases), 1e-6));
    const double share = shares.empty() ? fabric.efficiency : median(shares);
    fit.bus_bandwidth = BytesPerSecond(share * fabric.nic_gbps * 1e9 / 8.0);
    if (shares.empty()) {
        fit.sigma = kUnmeasuredSigma;
        return {fit,
                {"the NIC's rate times " + std::to_string(fabric.efficiency).substr(0, 4) +
                     (bases.empty() ? ", start as like fabrics'" : ", start by nccl-tests"),
                 Trust::Assumed, fit.sigma},
                !bases.empty(),
                is_ring};
    }
    std::vector<double> residuals;
    for (const double value : shares) {
        residuals.push_back(std::log(share / value));
    }
    fit.sigma = std::max(0.10, quality_of(residuals).sigma);
    const std::string start = bases.empty() ? "; start as like fabrics'" : "";
    return {fit,
            {"nccl-tests on " + gpus + ": " + source + start, Trust::Measured, fit.sigma},
            !bases.empty(),
            is_ring};
}

/// Takes the rate of `from` where that of `to` was not measured, and its start where neither was
/// that of `to`.
void follow(OpFit& to, const OpFit& from, const std::string& name) {
    if (to.origin.trust != Trust::Assumed || from.origin.trust == Trust::Assumed) {
        return;
    }
    to.fit.bus_bandwidth = from.fit.bus_bandwidth;
    if (!to.has_base && to.is_ring) {
        to.fit.base = from.fit.base;
    }
    to.fit.sigma = from.fit.sigma + 0.10;
    const bool is_passed_on = from.origin.text.starts_with("as ");
    to.origin = {is_passed_on ? from.origin.text : "as " + name + ": " + from.origin.text,
                 Trust::Scaled, to.fit.sigma};
}

}  // namespace

Expected<MadeProfile> make_fabric_profile(const CalibrationFolder& folder,
                                          const KnownFabric& fabric) {
    ORRERY_TRY(all, points_on(folder, fabric));
    OpFit all_reduce = fit_op("all_reduce", all, fabric, kReduceStep);
    OpFit all_gather = fit_op("all_gather", all, fabric, kRingStep);
    OpFit reduce_scatter = fit_op("reduce_scatter", all, fabric, kRingStep);
    OpFit all_to_all = fit_op("alltoall", all, fabric, kPeerStep);
    OpFit send_recv = fit_op("send_recv", all, fabric, Seconds(0.0));
    follow(all_gather, all_reduce, "all-reduce");
    follow(all_reduce, all_gather, "all-gather");
    follow(reduce_scatter, all_gather, "all-gather");
    follow(all_to_all, all_gather, "all-gather");
    follow(send_recv, all_gather, "all-gather");
    OpFit broadcast = all_gather;
    if (broadcast.origin.trust == Trust::Measured) {
        broadcast.origin = {"as all-gather: " + all_gather.origin.text, Trust::Scaled,
                            all_gather.fit.sigma};
    }

    schema::FabricProfile proto;
    proto.set_name(std::string(fabric.name));
    proto.set_summary(std::string(fabric.summary));
    proto.set_origin(all.empty() ? "datasheet" : "measured between nodes by nccl-tests");
    const Origin datasheet{"the NIC's line rate", Trust::Datasheet, 0.0};
    write_quantity(*proto.mutable_nic_bandwidth(),
                   std::to_string(static_cast<int>(fabric.nic_gbps)) + " Gbps", datasheet);
    write_count(*proto.mutable_nics_per_node(), fabric.nics, datasheet);
    auto* fits = proto.add_fits();
    fits->add_gpu("*");
    auto& nic = *fits->mutable_nic();
    write_collective(*nic.mutable_all_reduce(), all_reduce.fit, all_reduce.origin);
    write_collective(*nic.mutable_all_gather(), all_gather.fit, all_gather.origin);
    write_collective(*nic.mutable_reduce_scatter(), reduce_scatter.fit, reduce_scatter.origin);
    write_collective(*nic.mutable_all_to_all(), all_to_all.fit, all_to_all.origin);
    write_collective(*nic.mutable_broadcast(), broadcast.fit, broadcast.origin);
    write_collective(*nic.mutable_send_recv(), send_recv.fit, send_recv.origin);
    write_count(*nic.mutable_sms(), 16,
                {"NCCL 2.30 src/graph: channels of rings between nodes", Trust::Assumed, 0.0});
    MadeProfile made;
    made.parts.push_back(
        {std::string(fabric.name) + ".textproto",
         profile_text(proto, "Made by orrery_make_profiles. bus_bandwidth is of one NIC.")});
    return made;
}

}  // namespace orrery
