// SPDX-License-Identifier: Apache-2.0
// Tensor parallelism over t ranks, with and without sequence parallelism (SP).
// Symbols: s sequence, b micro-batch, h hidden, T = s·b/c tokens, X = whole [s, b, h] in 2 bytes.
#pragma once

#include "model/operators.hpp"
#include "program/builder.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace orrery {

/// A reduction of the loss: it follows forward kernel `after` (from 0).
struct LossComm {
    std::size_t after = 0;
    CommId comm;
};

/// The communication that tensor parallelism adds to one operator; all of it empty when t = 1.
///
/// - Column: with SP gathers its input X; backward gathers it again beside the input gradient's
///   product and reduce-scatters the input gradient beside the weight gradient's product.
///   Without SP: backward AllReduce of the input gradient.
/// - Row: with SP reduce-scatters its output; backward gathers the output's gradient first.
///   Without SP: forward AllReduce of the output.
/// - Vocabulary: as Row, since each rank needs the gradients of all tokens for its rows.
/// - Loss: Unfused 3 AllReduces of T fp32; Fused T, then 2T; VocabParallel an AllGather of 3T a
///   rank.
///
/// So a layer has 2 AG + 2 RS forward and 4 AG + 2 RS backward with SP, 2 + 2 AllReduces without.
/// Source: Megatron-LM core/tensor_parallel/{layers,cross_entropy}.py,
/// core/fusions/fused_cross_entropy.py; TransformerEngine module/layernorm_linear.py,
/// triton/cross_entropy.py; arXiv 2205.05198.
struct TensorComms {
    std::optional<CommId> forward_gather;   ///< before the forward kernels
    std::optional<CommId> forward_reduce;   ///< after them
    std::optional<CommId> gradient_gather;  ///< before the backward kernels
    std::optional<CommId> input_gather;     ///< before the weight gradient's kernels
    std::optional<CommId> gradient_reduce;  ///< after the input gradient's kernels
    std::vector<LossComm> loss;             ///< among the forward kernels
    bool scatters = false;  ///< reductions are ReduceScatters: their input is a buffer of X
};

[[nodiscard]] TensorComms tensor_comms(ProgramSetBuilder& shared, const Operator& op,
                                       const LocalShape& shape, std::int64_t hidden,
                                       CrossEntropy cross_entropy);

/// X: s·b·h activations of 2 bytes on the ranks of one context block.
[[nodiscard]] std::int64_t whole_activation_bytes(const LocalShape& shape, std::int64_t hidden);

}  // namespace orrery
