// SPDX-License-Identifier: Apache-2.0
#include "strategies/pipeline.hpp"

#include "base/assert.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace orrery {

PipelineWriter::PipelineWriter(const Job& job, const Stage& stage, ChunkPasses& passes,
                               DataParallel& data, StageWriter& writer)
    : job_(&job),
      stage_(&stage),
      passes_(&passes),
      data_(&data),
      writer_(&writer),
      order_(&job.order.ranks[static_cast<std::size_t>(stage.rank)]),
      receive_buffer_(writer.builder().tensor(
          "pipeline receive buffer", MemoryCategory::Communication, passes.activation_bytes())),
      output_(writer.builder().tensor("stage output", MemoryCategory::Activations,
                                      passes.activation_bytes())) {
    find_turns();
    if (job.plan->pipeline == 1) {
        return;
    }
    const std::int64_t p = job.plan->pipeline;
    ProgramSetBuilder& shared = writer.builder().shared();
    Communication comm{.kind = CollectiveKind::SendRecv,
                       .dimension = Dimension::Pipeline,
                       .group = GroupKind::Pipeline,
                       .bytes = passes.activation_bytes(),
                       .peer_stage = (stage.rank + 1) % p,
                       .name = shared.name("activation")};
    to_next_ = shared.communication(comm);
    comm.peer_stage = (stage.rank - 1 + p) % p;
    from_previous_ = shared.communication(comm);
    comm.name = shared.name("activation gradient");
    to_previous_ = shared.communication(comm);
    comm.peer_stage = (stage.rank + 1) % p;
    from_next_ = shared.communication(comm);
    plan_receives();
}

std::int64_t PipelineWriter::virtual_stage(const Pass& pass) const {
    return pass.chunk * job_->plan->pipeline + stage_->rank;
}

PipelineWriter::Message PipelineWriter::message(const Pass& pass, std::int64_t consumer,
                                                bool is_forward) const {
    const std::int64_t number = consumer * job_->order.microbatches + pass.microbatch;
    const bool is_incoming = consumer == virtual_stage(pass);
    const CommId outgoing = is_forward ? to_next_ : to_previous_;
    const CommId incoming = is_forward ? from_previous_ : from_next_;
    return {is_incoming ? incoming : outgoing,
            static_cast<std::uint32_t>(2 * number + (is_forward ? 0 : 1)), is_forward};
}

std::optional<PipelineWriter::Message> PipelineWriter::incoming(const Pass& pass) const {
    const std::int64_t last = job_->plan->pipeline * job_->plan->virtual_stages - 1;
    const std::int64_t at = virtual_stage(pass);
    if (pass.kind == PassKind::Forward) {
        return at > 0 ? std::optional(message(pass, at, true)) : std::nullopt;
    }
    const bool receives = pass.kind != PassKind::WeightGradient && at < last;
    return receives ? std::optional(message(pass, at, false)) : std::nullopt;
}

std::optional<PipelineWriter::Message> PipelineWriter::outgoing(const Pass& pass) const {
    const std::int64_t last = job_->plan->pipeline * job_->plan->virtual_stages - 1;
    const std::int64_t at = virtual_stage(pass);
    if (pass.kind == PassKind::Forward) {
        return at < last ? std::optional(message(pass, at + 1, true)) : std::nullopt;
    }
    const bool sends = pass.kind != PassKind::WeightGradient && at > 0;
    return sends ? std::optional(message(pass, at - 1, false)) : std::nullopt;
}

void PipelineWriter::find_turns() {
    const Plan& plan = *job_->plan;
    const std::int64_t total = job_->order.microbatches * plan.virtual_stages;
    const std::int64_t warmup =
        2 * (plan.pipeline - 1 - stage_->rank) + (plan.virtual_stages - 1) * plan.microbatch_group;
    const bool has_pairs = plan.schedule == ScheduleKind::Interleaved && !plan.overlap_p2p;
    const auto first = static_cast<std::size_t>(std::min(warmup, total));
    const std::size_t last = 2 * static_cast<std::size_t>(total) - first;
    std::size_t turn = 0;
    for (std::size_t k = 0; k < order_->size(); ++k) {
        const bool is_second = has_pairs && k > first && k < last && (k - first) % 2 == 1;
        turn += k > 0 && !is_second ? 1 : 0;
        turn_of_.push_back(turn);
    }
}

void PipelineWriter::plan_receives() {
    receives_.resize(order_->size());
    posted_.resize(turn_of_.back() + 1);
    plan_direction(true);
    plan_direction(false);
}

void PipelineWriter::plan_direction(bool is_forward) {
    const std::vector<std::size_t> consumers = in_sender_order(is_forward);
    // A message that is sent later may be needed earlier: then everything sent before it is posted
    // by then.
    std::size_t turn = order_->size();
    std::vector<std::size_t> turns(consumers.size());
    for (std::size_t i = consumers.size(); i-- > 0;) {
        turn = std::min(turn, posting_turn(consumers[i], is_forward));
        turns[i] = turn;
    }
    for (std::size_t i = 0; i < consumers.size(); ++i) {
        const std::size_t k = consumers[i];
        receives_[k] = Receive{*incoming((*order_)[k]), std::nullopt};
        posted_[turns[i]].push_back(k);
    }
}

std::vector<std::size_t> PipelineWriter::in_sender_order(bool is_forward) const {
    const std::int64_t p = job_->plan->pipeline;
    std::map<std::pair<std::int32_t, std::int32_t>, std::size_t> consumer_of;
    for (std::size_t k = 0; k < order_->size(); ++k) {
        const Pass& pass = (*order_)[k];
        if ((pass.kind == PassKind::Forward) == is_forward && incoming(pass)) {
            consumer_of[{pass.microbatch, pass.chunk}] = k;
        }
    }
    const std::int64_t sender = (stage_->rank + (is_forward ? p - 1 : 1)) % p;
    const bool wraps = is_forward ? stage_->rank == 0 : stage_->rank == p - 1;
    const std::int32_t step = !wraps ? 0 : is_forward ? 1 : -1;
    std::vector<std::size_t> consumers;
    for (const Pass& pass : job_->order.ranks[static_cast<std::size_t>(sender)]) {
        const bool sends =
            (pass.kind == PassKind::Forward) == is_forward && pass.kind != PassKind::WeightGradient;
        const auto found = consumer_of.find({pass.microbatch, pass.chunk + step});
        if (sends && found != consumer_of.end()) {
            consumers.push_back(found->second);
        }
    }
    ORRERY_ASSERT(consumers.size() == consumer_of.size(),
                  "every pass that receives has its sender");
    return consumers;
}

std::size_t PipelineWriter::posting_turn(std::size_t pass, bool is_forward) const {
    const std::int64_t p = job_->plan->pipeline;
    const bool wraps = is_forward ? stage_->rank == 0 : stage_->rank == p - 1;
    const std::int64_t early = job_->plan->schedule == ScheduleKind::Interleaved && wraps
                                   ? job_->plan->microbatch_group - p
                                   : 0;
    std::size_t at = pass;
    for (std::int64_t left = early; left > 0 && at > 0;) {
        --at;
        left -= ((*order_)[at].kind == PassKind::Forward) == is_forward ? 1 : 0;
    }
    return turn_of_[at];
}

void PipelineWriter::post(std::size_t turn) {
    if (turn >= posted_.size()) {
        return;
    }
    const std::vector<InstructionId> position = writer_->position();
    ProgramBuilder& builder = writer_->builder();
    for (const std::size_t k : posted_[turn]) {
        const Pass& pass = (*order_)[k];
        Receive& receive = *receives_[k];
        const StreamKind stream =
            receive.message.is_forward ? StreamKind::ForwardRecv : StreamKind::BackwardRecv;
        builder.set_label({.work = Work::Communication,
                           .microbatch = pass.microbatch,
                           .layer = -1,
                           .chunk = static_cast<std::int16_t>(pass.chunk)});
        builder.allocate(stream, {&receive_buffer_, 1}, position);
        receive.done = builder.recv(stream, receive.message.comm, receive.message.tag);
    }
}

void PipelineWriter::join_turn(std::size_t turn) {
    for (const InstructionId id : last_sends_) {
        writer_->join(id);
    }
    if (turn < posted_.size()) {
        for (const std::size_t k : posted_[turn]) {
            writer_->join(*receives_[k]->done);
        }
    }
}

void PipelineWriter::send_outputs() {
    last_sends_.clear();
    ProgramBuilder& builder = writer_->builder();
    for (const Output& output : outputs_) {
        const StreamKind stream =
            output.message.is_forward ? StreamKind::ForwardSend : StreamKind::BackwardSend;
        last_sends_.push_back(
            builder.send(stream, output.message.comm, output.message.tag, writer_->position()));
        if (output.is_freed) {
            builder.free(stream, {&output.tensor, 1});
        }
    }
    outputs_.clear();
}

void PipelineWriter::write_pass(std::size_t k) {
    const Pass& pass = (*order_)[k];
    std::optional<TensorId> received;
    if (!receives_.empty() && receives_[k]) {
        writer_->join(*receives_[k]->done);
        received = receive_buffer_;
    }
    const std::optional<Message> next = outgoing(pass);
    const bool frees_output = job_->plan->deallocate_outputs;
    if (pass.kind == PassKind::Forward) {
        passes_->forward(pass, received, next ? std::optional(output_) : std::nullopt,
                         data_->before_operators(k));
        if (next) {
            outputs_.push_back({*next, output_, frees_output});
        }
        return;
    }
    const auto gradient = passes_->backward(pass, received, data_->after_operators(k));
    const bool was_sent =
        virtual_stage(pass) + 1 < job_->plan->pipeline * job_->plan->virtual_stages;
    if (!frees_output && was_sent && pass.kind != PassKind::WeightGradient) {
        writer_->free({&output_, 1});
    }
    if (next) {
        outputs_.push_back({*next, *gradient, true});
    }
}

void PipelineWriter::write() {
    const bool overlaps = job_->plan->overlap_p2p;
    post(0);
    for (std::size_t k = 0; k < order_->size(); ++k) {
        const std::size_t turn = turn_of_[k];
        const bool begins = k == 0 || turn_of_[k - 1] != turn;
        const bool ends = k + 1 == order_->size() || turn_of_[k + 1] != turn;
        if (begins && overlaps) {
            post(turn + 1);
        } else if (begins) {
            join_turn(turn);
        }
        data_->before_pass(k);
        write_pass(k);
        if (ends) {
            send_outputs();
        }
        data_->after_pass(k);
        if (ends && !overlaps) {
            post(turn + 1);
        }
    }
}

}  // namespace orrery
