// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "strategies/recompute.hpp"
#include "strategies/stage.hpp"
#include "strategies/stage_writer.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace orrery {

/// Called at an operator of a chunk: (block, operator).
using OperatorHook = std::function<void(std::size_t, std::size_t)>;

/// Writes the forward and backward of a chunk: kernels, tensor-parallel communication,
/// recomputation, and the tensors that come and go with them. One forward then one backward of each
/// (chunk, micro-batch).
class ChunkPasses {
  public:
    ChunkPasses(const Job& job, const Stage& stage, StageWriter& writer);

    /// Writes F. `input`: a received tensor, freed once the first operator has run. `output`:
    /// allocated by the last operator and left alive for a send. `before` is called ahead of each
    /// operator.
    void forward(const Pass& pass, std::optional<TensorId> input, std::optional<TensorId> output,
                 const OperatorHook& before);

    /// Writes B, W or BW. `gradient`: of the chunk's output, as received; it is freed. Returns the
    /// gradient of the chunk's input, alive (none after W, and on the first virtual stage). `after`
    /// is called when the gradients of an operator's weights are done (W and BW).
    std::optional<TensorId> backward(const Pass& pass, std::optional<TensorId> gradient,
                                     const OperatorHook& after);

    /// A layer's input as kept by full recomputation, or sent between stages: [s, b, h], /t with
    /// SP.
    [[nodiscard]] std::int64_t activation_bytes() const { return activation_bytes_; }

  private:
    /// Of one operator, what only its weight gradient needs, from B to W.
    struct Deferred {
        std::size_t block = 0;
        std::size_t op = 0;
        std::vector<TensorId> tensors;
    };

    struct Gradient {
        TensorId tensor;
        bool is_owned = true;  ///< false: the residual branch holds the same tensor
    };

    void label(Work work, std::size_t block);
    void forward_segment(const Chunk& chunk, const Segment& segment, Keep keep,
                         const OperatorHook* before);
    void forward_operator(const StageOperator& op, Keep keep, bool ends_core);
    void run_forward_kernels(const StageOperator& op);
    void recompute_core(const Block& block);
    void backward_block(std::size_t block, Keep keep, const OperatorHook& after);
    void backward_operator(std::size_t block, std::size_t op, const OperatorHook& after);
    void run_backward_kernels(const StageOperator& op, bool defers);
    void write_weight_gradient(const StageOperator& op);
    /// Moves the chain of gradients over `op`; what is no longer needed goes to `released`.
    void pass_gradient_on(const StageOperator& op, bool defers, std::vector<TensorId>& released,
                          std::vector<TensorId>& deferred);
    void weight_pass(const OperatorHook& after);
    void weight_operator(const StageOperator& op, const Deferred& deferred);

    const Job* job_;
    const Stage* stage_;
    StageWriter* writer_;
    std::int64_t activation_bytes_;
    TensorId layer_input_;
    std::vector<std::vector<Segment>> segments_;  ///< by chunk

    // Of the pass that is being written.
    const Chunk* chunk_ = nullptr;
    Pass pass_;
    Work work_ = Work::Forward;
    bool is_first_gradient_ = true;                            ///< nothing to add to yet
    std::set<std::pair<PassKind, std::int32_t>> passes_seen_;  ///< kinds of backward, by chunk
    std::optional<TensorId> input_;
    std::optional<TensorId> output_;
    std::vector<TensorId> transients_;  ///< outputs that live until the next operator has run
    std::vector<TensorId> scratch_;     ///< what a forward that keeps nothing holds for a while
    std::optional<Gradient> gradient_;
    std::optional<TensorId> residual_;  ///< gradient that waits for the branch to come back
    bool residual_is_deferred_ = false;
    std::map<std::pair<std::int32_t, std::int32_t>, std::vector<Deferred>> deferred_;
};

}  // namespace orrery
