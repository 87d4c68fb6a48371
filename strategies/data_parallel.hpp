// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "strategies/chunk_passes.hpp"
#include "strategies/gradient_buckets.hpp"
#include "strategies/stage.hpp"
#include "strategies/stage_writer.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace orrery {

/// Reduces gradients, and with the distributed optimizer gathers parameters, over D = data ·
/// context ranks. Nothing at all when D = 1.
///
/// Gradients: once a step, a collective a bucket (ReduceScatter, or AllReduce for Ddp), each after
/// a kernel that scales the bucket by 1/D. With overlap_grad_reduce it starts
///
/// - without virtual stages: on pipeline rank 0 as the bucket's last gradient of the last backward
///   is ready, on the other ranks after their last pass;
/// - with virtual stages: after backward step j rank r starts the chunk whose last backward was
///   step j − r, so that all ranks reduce the same chunk at about the same time; what is left
///   after the last pass.
///
/// Without the overlap everything starts after the last pass.
///
/// Parameters: an AllGather a bucket. With overlap_param_gather it starts
///
/// - without virtual stages: a module waits for its bucket and then starts the next one, so the
///   first is exposed, and on later stages comes after the activation has arrived;
/// - with virtual stages: chunks 0 and 1 at the start; at forward step k rank r starts chunk x + 1
///   where step k + r is the first micro-batch of chunk x (1 < x + 1 < v).
///
/// Without the overlap: after the optimizer.
/// Source: Megatron-LM core/distributed/param_and_grad_buffer.py,
/// core/pipeline_parallel/schedules.py.
class DataParallel {
  public:
    DataParallel(const Job& job, const Stage& stage, std::vector<GradientBuffer> buffers,
                 StageWriter& writer, CostTableBuilder& costs);

    void begin_step();
    void before_pass(std::size_t pass);
    void after_pass(std::size_t pass);
    [[nodiscard]] OperatorHook before_operators(std::size_t pass);
    [[nodiscard]] OperatorHook after_operators(std::size_t pass);

    /// Starts what is left and makes the compute stream wait for all of it.
    void finish_gradients();

    /// The gather after the optimizer; nothing where it runs under the forward.
    void gather_after_optimizer();

    [[nodiscard]] bool gathers_under_forward() const { return gathers_under_forward_; }

  private:
    struct BucketState {
        bool is_reducing = false;
        std::optional<InstructionId> gather;
        bool is_gathered = false;
        CommId reduce;
        CommId gather_comm;
        CostId scale;
    };

    void prepare_comms(CostTableBuilder& costs);
    void find_turns();
    void reduce(std::size_t chunk, std::size_t bucket);
    void reduce_chunk(std::size_t chunk);
    void gather(std::size_t chunk, std::size_t bucket);
    void gather_chunk(std::size_t chunk);
    void wait_for_parameters(std::size_t chunk, std::size_t block, std::size_t op);

    const Job* job_;
    const Stage* stage_;
    StageWriter* writer_;
    std::vector<GradientBuffer> buffers_;
    std::vector<std::vector<BucketState>> state_;  ///< [chunk][bucket]
    bool is_active_;
    bool gathers_under_forward_;
    bool has_virtual_stages_;
    bool reduces_under_backward_ = false;  ///< bucket by bucket
    NameId scale_name_;
    std::vector<InstructionId> reductions_;
    // By pass of this rank's order.
    std::vector<std::optional<std::size_t>> first_forward_of_;  ///< chunk whose first forward it is
    std::vector<std::optional<std::size_t>> last_backward_of_;
    std::vector<std::optional<std::size_t>> reduces_after_;  ///< chunk that starts after the pass
    std::vector<std::optional<std::size_t>> gathers_before_;
};

}  // namespace orrery
