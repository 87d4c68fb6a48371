// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace orrery {

/// Which numbers the products run in.
enum class Precision : std::uint8_t { Bf16, Fp16, Fp8, Fp8Rowwise, Fp8Block, Mxfp8, Nvfp4 };

/// Which copies of a parameter exist (bytes a parameter, Adam):
/// Fp32MainGrads  2 param + 4 gradient + 12 (fp32 master, m, v): Megatron bf16.
/// Fp32Params     4 + 4 + 8, bf16 copies while used: FSDP.
/// Classic        2 + 2 + 12: DeepSpeed fp16.
/// Pure           2 + 2 + 4 (m, v in bf16): all bf16.
enum class Recipe : std::uint8_t { Fp32MainGrads, Fp32Params, Classic, Pure };

enum class Optimizer : std::uint8_t { Adam, Sgd };

/// How logits become a loss. Unfused: 3 all-reduces with tensor parallelism, 4 + 6 bytes a logit;
/// Fused: Megatron's native fusion, 2 all-reduces; VocabParallel: Transformer Engine's, 1
/// all-gather.
enum class CrossEntropy : std::uint8_t { Unfused, Fused, VocabParallel };

/// Flash: one fused kernel, keeps log-sum-exp. Unfused: batched products, scale-mask-softmax and
/// dropout kernels, keeps the s × s scores.
enum class AttentionImpl : std::uint8_t { Flash, Unfused };

/// Formula that turns a step into "model FLOP" (see flop_count.hpp).
enum class FlopConvention : std::uint8_t {
    Megatron,
    MegatronWindow,
    Megatron2021,          ///< 72BsLh²(1 + s/6h + V/12Lh), full attention
    Megatron2021Hardware,  ///< 96BsLh²(1 + s/6h + V/16Lh): with full recomputation
    Palm,
    Torchtitan,
    LlmFoundry,
    Nemo
};

enum class Allocator : std::uint8_t { Segments, Expandable };

/// How the model is trained, apart from how it is split.
struct Training {
    std::int64_t sequence_length = 0;  ///< s
    std::int64_t global_batch = 0;     ///< sequences of a step
    std::int64_t micro_batch = 1;      ///< b, sequences a rank computes at once
    Precision precision = Precision::Bf16;
    Recipe recipe = Recipe::Fp32MainGrads;
    Optimizer optimizer = Optimizer::Adam;
    CrossEntropy cross_entropy = CrossEntropy::Fused;
    AttentionImpl attention = AttentionImpl::Flash;
    FlopConvention flop_convention = FlopConvention::Megatron;
    Allocator allocator = Allocator::Segments;
    bool compile = false;      ///< pointwise operators are fused by a compiler
    bool cuda_graphs = false;  ///< a layer's kernels are launched as one
    std::uint64_t seed = 1;

    friend bool operator==(const Training&, const Training&) = default;
};

}  // namespace orrery
