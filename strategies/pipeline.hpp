// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "strategies/chunk_passes.hpp"
#include "strategies/data_parallel.hpp"
#include "strategies/stage.hpp"
#include "strategies/stage_writer.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace orrery {

/// Writes a rank's passes in the schedule's order, with the messages between virtual stages:
/// [s, b, h] activations and gradients, /t with sequence parallelism, nothing on a lone rank.
///
/// overlap_p2p: sends block nothing; the receive of a pass is posted when the pass before it
/// starts.
///
/// Without it a rank takes turns: after a turn its sends and the next turn's receives are issued
/// together and the next turn waits for all of them. A turn is a pass; in the steady part of
/// interleaved 1F1B it is a forward and a backward.
///
/// An interleaved rank whose chunk follows the last rank's (groups of N > p micro-batches) posts
/// receives N − p passes of their direction earlier, when the sender has the message: N − p + 1
/// buffers. Receives are posted in the order of the sender's sends, whatever order they are used
/// in. Source: Megatron-LM core/pipeline_parallel/{schedules,p2p_communication}.py.
class PipelineWriter {
  public:
    PipelineWriter(const Job& job, const Stage& stage, ChunkPasses& passes, DataParallel& data,
                   StageWriter& writer);

    void write();

  private:
    struct Message {
        CommId comm;
        std::uint32_t tag = 0;
        bool is_forward = true;
    };

    /// What arrives for a pass.
    struct Receive {
        Message message;
        std::optional<InstructionId> done;
    };

    struct Output {
        Message message;
        TensorId tensor;
        bool is_freed = true;  ///< once it is sent
    };

    [[nodiscard]] std::int64_t virtual_stage(const Pass& pass) const;
    [[nodiscard]] std::optional<Message> incoming(const Pass& pass) const;
    [[nodiscard]] std::optional<Message> outgoing(const Pass& pass) const;
    [[nodiscard]] Message message(const Pass& pass, std::int64_t consumer, bool is_forward) const;
    void plan_receives();
    void plan_direction(bool is_forward);
    [[nodiscard]] std::vector<std::size_t> in_sender_order(bool is_forward) const;
    [[nodiscard]] std::size_t posting_turn(std::size_t pass, bool is_forward) const;
    void find_turns();
    void post(std::size_t turn);
    void join_turn(std::size_t turn);
    void write_pass(std::size_t k);
    void send_outputs();

    const Job* job_;
    const Stage* stage_;
    ChunkPasses* passes_;
    DataParallel* data_;
    StageWriter* writer_;
    const std::vector<Pass>* order_;
    CommId to_next_;
    CommId to_previous_;
    CommId from_previous_;
    CommId from_next_;
    TensorId receive_buffer_;
    TensorId output_;
    std::vector<std::size_t> turn_of_;              ///< by pass
    std::vector<Output> outputs_;                   ///< of this turn, to be sent
    std::vector<std::optional<Receive>> receives_;  ///< by consuming pass
    std::vector<std::vector<std::size_t>> posted_;  ///< by turn: passes whose receives go with it
    std::vector<InstructionId> last_sends_;         ///< of the turn before
};

}  // namespace orrery
