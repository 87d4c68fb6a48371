// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/units.hpp"
#include "model/dtype.hpp"

#include <compare>
#include <cstdint>
#include <string>
#include <variant>

namespace orrery {

/// Which operand is transposed: TN forward, NN input gradient, NT weight gradient (cuBLAS's words).
enum class GemmLayout : std::uint8_t { TN, NN, NT };

/// D[m, n] = A[m, k] · B[k, n], `batch` independent products; `accumulate` adds into an fp32 D.
struct GemmKernel {
    std::int64_t m = 1;
    std::int64_t n = 1;
    std::int64_t k = 1;
    std::int64_t batch = 1;
    Dtype dtype = Dtype::Bf16;
    GemmLayout layout = GemmLayout::TN;
    bool accumulate = false;

    friend auto operator<=>(const GemmKernel&, const GemmKernel&) = default;
};

enum class KernelPass : std::uint8_t { Forward, Backward };

/// Fused (flash) attention over q [batch, seq, heads_q, head_dim_qk] and kv [batch, seq, heads_kv,
/// …]. `window` = 0: every earlier position; else each query sees at most `window` positions.
struct AttentionKernel {
    std::int64_t batch = 1;
    std::int64_t seq = 1;
    std::int64_t heads_q = 1;
    std::int64_t heads_kv = 1;
    std::int64_t head_dim_qk = 128;
    std::int64_t head_dim_v = 128;
    std::int64_t window = 0;
    bool causal = true;
    Dtype dtype = Dtype::Bf16;
    KernelPass pass = KernelPass::Forward;

    friend auto operator<=>(const AttentionKernel&, const AttentionKernel&) = default;
};

/// A kernel bound by memory: its time follows from the bytes it moves. `op` is the word of the
/// calibration tables ("rms_norm", "layer_norm", "swiglu", "gelu", "rope", "residual_add",
/// "dropout", "softmax", "cross_entropy", "adam", "grad_norm", "memset", "copy", "cast",
/// "embedding", "bias_add", "scale", "qk_norm"). `rows` × `width` is the shape of its main input.
struct MemoryBoundKernel {
    std::string op;
    KernelPass pass = KernelPass::Forward;
    std::int64_t rows = 1;
    std::int64_t width = 1;
    Dtype dtype = Dtype::Bf16;
    Bytes read;
    Bytes written;

    friend auto operator<=>(const MemoryBoundKernel&, const MemoryBoundKernel&) = default;
};

/// What a rank's GPU is asked to run, exactly enough to time it.
using KernelSpec = std::variant<GemmKernel, AttentionKernel, MemoryBoundKernel>;

/// Multiply-add = 2. GEMM 2·m·n·k·batch; attention forward 4·b·heads·pairs·d (2 products), backward
/// twice that (the 4 products that are counted; the fused kernel's fifth is not); memory-bound 0.
/// pairs = s² full, s(s+1)/2 … counted as s²/2 causal, w·s − w(w−1)/2 with a causal window w.
/// Source: Megatron-LM training.py num_floating_point_operations (causal half).
[[nodiscard]] Flop kernel_flop(const KernelSpec& kernel);

/// Least bytes that must cross HBM: inputs once, outputs once.
[[nodiscard]] Bytes kernel_bytes_read(const KernelSpec& kernel);
[[nodiscard]] Bytes kernel_bytes_written(const KernelSpec& kernel);

/// "gemm 8192x10240x8192 bf16 TN", "attention fwd b1 s8192 …": for traces and reports.
[[nodiscard]] std::string kernel_name(const KernelSpec& kernel);

}  // namespace orrery
