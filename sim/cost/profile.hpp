// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/units.hpp"
#include "model/kernel.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace orrery {

/// Closed form of a product's time: t = t0 + (a^q + b^q)^(1/q), a = FLOP / (flop_efficiency ·
/// peak), b = bytes / (byte_efficiency · HBM). `sigma` is the standard deviation of ln(measured /
/// fitted).
struct GemmFit {
    Seconds t0;
    double flop_efficiency = 0.0;
    double byte_efficiency = 0.0;
    double q = 3.0;
    double sigma = 0.0;
    bool whole_waves =
        false;  ///< its kernels run in whole waves of tiles: interpolate between waves
};

/// Attention forward: efficiency = e_inf · s/(s + s_half) · occupancy, occupancy = b·heads·⌈s/128⌉
/// in whole waves over the SMs; backward counts 2× the forward's FLOP at `backward_efficiency` ×
/// that efficiency after 5/4 (five products executed where four are counted).
struct AttentionFit {
    Seconds t0;
    double e_inf = 0.0;
    double s_half = 0.0;
    double backward_efficiency = 0.85;
    double sigma = 0.0;
};

/// A memory-bound kernel: t = t0 + bytes / (share · HBM), faster by `cache_boost` while its bytes
/// stay under half the L2.
struct MemoryBoundFit {
    Seconds t0;
    double share = 0.0;
    double sigma = 0.0;
};

/// One measured point of a table.
struct GemmPoint {
    GemmKernel shape;
    Seconds time;
};

struct AttentionPoint {
    AttentionKernel shape;
    Seconds time;
};

/// What is known of a GPU: datasheet, fits, and the measured tables behind them.
/// Filled from scenarios/gpus/*.textproto; each field's origin stays in the file.
struct GpuProfile {
    std::string name;                     ///< "h100-sxm"
    std::string origin;                   ///< "measured", "datasheet", "scaled from h200", …
    std::map<Dtype, FlopPerSecond> peak;  ///< dense
    BytesPerSecond hbm_bandwidth;
    Bytes l2;
    Bytes memory_capacity;  ///< what a process can get, not the name-plate
    std::int64_t sms = 0;
    Seconds kernel_gap;      ///< between two kernels of a busy stream
    double sustained = 1.0;  ///< time of a large product in steady work / in a burst (power)

    std::map<Dtype, GemmFit> gemm;
    /// Time of TN, NN, NT against the TN product of the same layer (T×out×in).
    std::array<double, 3> layout_factor{1.0, 1.0, 1.0};
    double accumulate_factor = 1.0;  ///< time with fp32 accumulation against without
    std::map<Dtype, AttentionFit> attention;
    std::map<std::string, MemoryBoundFit>
        memory_bound;  ///< "op/pass/impl"; "*/forward/eager" is a default
    double cache_boost = 1.0;

    std::vector<GemmPoint> gemm_table;
    std::vector<AttentionPoint> attention_table;

    /// Share of its speed that a kernel keeps beside a collective, after the SMs it lost.
    double gemm_beside_comm = 1.0;
    double memory_bound_beside_comm = 0.92;
};

/// What a framework does with a GPU: whose kernels it calls and what its host costs.
/// Filled from scenarios/frameworks/*.textproto.
struct FrameworkProfile {
    std::string name;            ///< "MEGATRON"
    std::string release;         ///< the release that was taken ("" = newest)
    std::string impl = "fused";  ///< of memory-bound kernels: fused, compiled, eager
    Seconds kernel_launch;
    Seconds collective_launch;
    Seconds point_to_point_launch;
    double attention_factor = 1.0;  ///< time of its attention kernel against the profile's
    Bytes framework_memory;         ///< CUDA context, loaded kernels
    Bytes gemm_workspace;
    Bytes communicator_buffer;  ///< of each communicator that ran a collective
};

}  // namespace orrery
