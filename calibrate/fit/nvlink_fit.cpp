// SPDX-License-Identifier: Apache-2.0
#include "calibrate/fit/collective_fit.hpp"
#include "calibrate/fit/profile_maker.hpp"

namespace orrery {
namespace {

constexpr const char* kSource =
    "NVIDIA aiconfigurator 095f58a (Apache-2.0) and the nccl-tests logs it is beside";

/// Spread that scaling adds.
constexpr double kScaledSigma = 0.15;

/// One message between two GPUs: an all-to-all of two ranks sends half of its buffer each way.
std::vector<CollectivePoint> messages_from(const std::vector<CollectivePoint>& points) {
    std::vector<CollectivePoint> messages;
    for (CollectivePoint point : points) {
        if (point.op == "alltoall" && point.ranks == 2) {
            point.op = "send_recv";
            point.size = point.size / 2.0;
            messages.push_back(point);
        }
    }
    return messages;
}

LinkFits scaled(LinkFits fits, double bandwidth, double sigma) {
    for (CollectiveFit* fit : {&fits.all_reduce, &fits.all_gather, &fits.reduce_scatter,
                               &fits.all_to_all, &fits.broadcast, &fits.send_recv}) {
        fit->bus_bandwidth = fit->bus_bandwidth * bandwidth;
        fit->sigma += sigma;
    }
    return fits;
}

}  // namespace

Expected<NvlinkFits> fit_nvlink(const CalibrationFolder& folder, const KnownGpu& gpu) {
    const std::string name = "collectives_" + std::string(gpu.table) + "_1n";
    if (gpu.table.empty() || !folder.has(name)) {
        const KnownGpu& sibling = known_gpu(gpu.sibling);
        ORRERY_TRY(known, fit_nvlink(folder, sibling));
        const double sigma = gpu.has_sibling_kernels ? 0.0 : kScaledSigma;
        NvlinkFits fits{
            .fits = scaled(known.fits, gpu.nvlink_gbps / sibling.nvlink_gbps, sigma),
            .origin = "scaled from " + std::string(sibling.name) + " by the links' rate",
            .is_measured = false};
        fits.fits.sms = gpu.nccl_sms;
        return fits;
    }
    ORRERY_TRY(table, folder.table(name));
    ORRERY_TRY(points, read_collectives(table));
    NvlinkFits result{
        .fits = {}, .origin = std::string(kSource) + ", one node", .is_measured = true};
    // An NVL72 rack is one island of 18 trays: its points are NVLink's as a tray's are.
    const std::string rack = "collectives_" + std::string(gpu.table) + "_18n";
    if (folder.has(rack)) {
        ORRERY_TRY(rack_table, folder.table(rack));
        ORRERY_TRY(rack_points, read_collectives(rack_table));
        for (CollectivePoint point : rack_points) {
            point.nodes = 1;
            points.push_back(point);
        }
        result.origin += " and CoreWeave nccl-tests, one NVL72";
    }
    result.fits = {.all_reduce = fit_collective(points, "all_reduce"),
                   .all_gather = fit_collective(points, "all_gather"),
                   .reduce_scatter = fit_collective(points, "reduce_scatter"),
                   .all_to_all = fit_collective(points, "alltoall"),
                   .broadcast = fit_collective(points, "all_gather"),
                   .send_recv = fit_collective(messages_from(points), "send_recv"),
                   .sms = gpu.nccl_sms};
    return result;
}

}  // namespace orrery
