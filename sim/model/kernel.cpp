// SPDX-License-Identifier: Apache-2.0
#include "model/kernel.hpp"

#include <fmt/format.h>

namespace orrery {

namespace {

double real(std::int64_t value) {
    return static_cast<double>(value);
}

/// Bytes of an element where results and attention operands live: quantised products read narrow
/// numbers and write bf16.
double wide_bytes(Dtype dtype) {
    return dtype == Dtype::Fp32 ? 4.0 : 2.0;
}

/// Query-key pairs of one sequence and head that are counted.
double counted_pairs(const AttentionKernel& k) {
    const double s = real(k.seq);
    if (!k.causal) {
        return s * s;
    }
    if (k.window > 0 && k.window < k.seq) {
        const double w = real(k.window);
        return w * s - w * (w - 1.0) / 2.0;
    }
    return s * s / 2.0;
}

struct AttentionElements {
    double query = 0.0;   ///< q; its gradient
    double output = 0.0;  ///< out; its gradient
    double key_value = 0.0;
    double log_sum_exp = 0.0;
};

AttentionElements attention_elements(const AttentionKernel& k) {
    const double tokens = real(k.batch) * real(k.seq);
    return {.query = tokens * real(k.heads_q * k.head_dim_qk),
            .output = tokens * real(k.heads_q * k.head_dim_v),
            .key_value = tokens * real(k.heads_kv * (k.head_dim_qk + k.head_dim_v)),
            .log_sum_exp = tokens * real(k.heads_q)};
}

struct FlopOf {
    double operator()(const GemmKernel& k) const {
        return 2.0 * real(k.m) * real(k.n) * real(k.k) * real(k.batch);
    }

    double operator()(const AttentionKernel& k) const {
        const double forward = 2.0 * real(k.batch) * real(k.heads_q) * counted_pairs(k) *
                               real(k.head_dim_qk + k.head_dim_v);
        return k.pass == KernelPass::Forward ? forward : 2.0 * forward;
    }

    double operator()(const MemoryBoundKernel&) const { return 0.0; }
};

struct ReadOf {
    double operator()(const GemmKernel& k) const {
        const double operands = (real(k.m) + real(k.n)) * real(k.k) * bytes_per_element(k.dtype);
        const double accumulator = k.accumulate ? 4.0 * real(k.m) * real(k.n) : 0.0;
        return real(k.batch) * (operands + accumulator);
    }

    double operator()(const AttentionKernel& k) const {
        const AttentionElements e = attention_elements(k);
        const double forward = wide_bytes(k.dtype) * (e.query + e.key_value);
        if (k.pass == KernelPass::Forward) {
            return forward;
        }
        return forward + wide_bytes(k.dtype) * 2.0 * e.output + 4.0 * e.log_sum_exp;
    }

    double operator()(const MemoryBoundKernel& k) const { return k.read.si(); }
};

struct WrittenOf {
    double operator()(const GemmKernel& k) const {
        const double element = k.accumulate ? 4.0 : wide_bytes(k.dtype);
        return real(k.batch) * real(k.m) * real(k.n) * element;
    }

    double operator()(const AttentionKernel& k) const {
        const AttentionElements e = attention_elements(k);
        if (k.pass == KernelPass::Forward) {
            return wide_bytes(k.dtype) * e.output + 4.0 * e.log_sum_exp;
        }
        return wide_bytes(k.dtype) * (e.query + e.key_value);
    }

    double operator()(const MemoryBoundKernel& k) const { return k.written.si(); }
};

const char* pass_name(KernelPass pass) {
    return pass == KernelPass::Forward ? "fwd" : "bwd";
}

const char* layout_name(GemmLayout layout) {
    switch (layout) {
        case GemmLayout::TN:
            return "TN";
        case GemmLayout::NN:
            return "NN";
        case GemmLayout::NT:
            return "NT";
    }
    return "";
}

struct NameOf {
    std::string operator()(const GemmKernel& k) const {
        return fmt::format(
            "gemm {}{}x{}x{} {} {}{}", k.batch > 1 ? fmt::format("{} of ", k.batch) : "", k.m, k.n,
            k.k, to_string(k.dtype), layout_name(k.layout), k.accumulate ? " accumulate" : "");
    }

    std::string operator()(const AttentionKernel& k) const {
        const std::string dim = k.head_dim_qk == k.head_dim_v
                                    ? fmt::format("{}", k.head_dim_qk)
                                    : fmt::format("{}/{}", k.head_dim_qk, k.head_dim_v);
        return fmt::format("attention {} b{} s{} h{}/{} d{}{}{} {}", pass_name(k.pass), k.batch,
                           k.seq, k.heads_q, k.heads_kv, dim, k.causal ? " causal" : "",
                           k.window > 0 ? fmt::format(" w{}", k.window) : "", to_string(k.dtype));
    }

    std::string operator()(const MemoryBoundKernel& k) const {
        return fmt::format("{} {} {}x{} {}", k.op, pass_name(k.pass), k.rows, k.width,
                           to_string(k.dtype));
    }
};

}  // namespace

Flop kernel_flop(const KernelSpec& kernel) {
    return Flop(std::visit(FlopOf{}, kernel));
}

Bytes kernel_bytes_read(const KernelSpec& kernel) {
    return Bytes(std::visit(ReadOf{}, kernel));
}

Bytes kernel_bytes_written(const KernelSpec& kernel) {
    return Bytes(std::visit(WrittenOf{}, kernel));
}

std::string kernel_name(const KernelSpec& kernel) {
    return std::visit(NameOf{}, kernel);
}

}  // namespace orrery
