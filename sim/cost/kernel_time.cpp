// SPDX-License-Identifier: Apache-2.0
#include "cost/kernel_time.hpp"

#include "cost/attention_time.hpp"
#include "cost/gemm_time.hpp"
#include "cost/memory_bound_time.hpp"

#include <variant>

namespace orrery {

struct KernelTimes::Tables {
    Tables(const GpuProfile& profile, const FrameworkProfile& choices)
        : gpu(profile), framework(choices), gemm(profile), attention(profile) {
        // What is asked of them is in `gemm` and `attention` by now.
        gpu.gemm_table.clear();
        gpu.attention_table.clear();
    }

    GpuProfile gpu;
    FrameworkProfile framework;
    GemmTimes gemm;
    AttentionTimes attention;
};

KernelTimes::KernelTimes(const GpuProfile& gpu, const FrameworkProfile& framework)
    : tables_(std::make_unique<Tables>(gpu, framework)) {}

KernelTimes::~KernelTimes() = default;
KernelTimes::KernelTimes(KernelTimes&&) noexcept = default;
KernelTimes& KernelTimes::operator=(KernelTimes&&) noexcept = default;

KernelTime KernelTimes::time(const KernelSpec& kernel) const {
    if (const auto* gemm = std::get_if<GemmKernel>(&kernel)) {
        return tables_->gemm.time(*gemm);
    }
    if (const auto* attention = std::get_if<AttentionKernel>(&kernel)) {
        KernelTime result = tables_->attention.time(*attention);
        const double factor = tables_->framework.attention_factor;
        if (factor != 1.0) {
            // Another kernel than the one that was measured: its time follows, it is not a row.
            result.time = result.time * factor;
            result.source = TimeSource::Roofline;
        }
        return result;
    }
    return memory_bound_time(tables_->gpu, tables_->framework.impl,
                             std::get<MemoryBoundKernel>(kernel));
}

const char* to_string(TimeSource source) {
    switch (source) {
        case TimeSource::Measured:
            return "measured";
        case TimeSource::Interpolated:
            return "interpolated";
        case TimeSource::Roofline:
            break;
    }
    return "roofline";
}

}  // namespace orrery
