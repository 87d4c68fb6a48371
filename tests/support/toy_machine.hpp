// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cluster/cluster.hpp"
#include "cost/kernel_time.hpp"
#include "cost/profile.hpp"

namespace orrery::toy {

/// A GPU of closed forms only, with round figures, so that a test needs no file.
inline GpuProfile gpu() {
    GpuProfile made;
    made.name = "toy";
    made.origin = "made up for tests";
    for (const Dtype dtype : {Dtype::Bf16, Dtype::Fp16, Dtype::Fp32}) {
        made.peak[dtype] = FlopPerSecond(1e15);
        made.gemm[dtype] = {.t0 = Seconds(3e-6),
                            .flop_efficiency = 0.75,
                            .byte_efficiency = 0.8,
                            .q = 3.0,
                            .sigma = 0.05};
        made.attention[dtype] = {.t0 = Seconds(5e-6),
                                 .e_inf = 0.6,
                                 .s_half = 500.0,
                                 .backward_efficiency = 0.85,
                                 .sigma = 0.1};
    }
    made.hbm_bandwidth = BytesPerSecond(3e12);
    made.l2 = Bytes(50e6);
    made.memory_capacity = Bytes(80e9);
    made.sms = 128;
    made.kernel_gap = Seconds(1e-6);
    for (const char* pass : {"fwd", "bwd", "forward", "backward"}) {
        for (const char* impl : {"fused", "compiled", "eager"}) {
            made.memory_bound["*/" + std::string(pass) + "/" + impl] = {
                .t0 = Seconds(2e-6), .share = 0.7, .sigma = 0.1};
        }
    }
    return made;
}

inline FrameworkProfile framework() {
    FrameworkProfile made;
    made.name = "TOY";
    made.kernel_launch = Seconds(4e-6);
    made.collective_launch = Seconds(6e-6);
    made.point_to_point_launch = Seconds(5e-6);
    made.framework_memory = Bytes(5e8);
    made.gemm_workspace = Bytes(3e7);
    made.communicator_buffer = Bytes(1e8);
    return made;
}

/// Nodes of `per_node` GPUs with NVLink inside and a NIC for each GPU.
inline Cluster nodes(std::int64_t gpus, std::int64_t per_node) {
    Cluster made;
    made.gpus = gpus;
    made.gpus_per_node = per_node;
    made.gpus_per_domain = per_node;
    made.nics_per_node = per_node;
    const auto fit = [](double base, double step, double bandwidth) {
        return CollectiveFit{.base = Seconds(base),
                             .step = Seconds(step),
                             .bus_bandwidth = BytesPerSecond(bandwidth),
                             .sigma = 0.05};
    };
    const CollectiveFit fast = fit(5e-6, 1e-6, 350e9);
    const CollectiveFit slow = fit(12e-6, 6e-6, 45e9);
    made.nvlink = {fast, fast, fast, fast, fast, fast, 24};
    made.nic = {slow, slow, slow, slow, slow, slow, 16};
    return made;
}

}  // namespace orrery::toy
