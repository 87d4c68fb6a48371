// SPDX-License-Identifier: Apache-2.0
#include "strategies/data_parallel.hpp"

#include "model/dtype.hpp"
#include "strategies/memory/state.hpp"

#include <cmath>
#include <utility>

namespace orrery {

DataParallel::DataParallel(const Job& job, const Stage& stage, std::vector<GradientBuffer> buffers,
                           StageWriter& writer, CostTableBuilder& costs)
    : job_(&job),
      stage_(&stage),
      writer_(&writer),
      buffers_(std::move(buffers)),
      is_active_(job.gradient_ranks() > 1),
      gathers_under_forward_(is_active_ && job.plan->overlap_param_gather &&
                             job.plan->data_parallel_kind ==
                                 DataParallelKind::DistributedOptimizer),
      has_virtual_stages_(job.plan->virtual_stages > 1),
      scale_name_(writer.builder().shared().name("gradient scaling")) {
    const std::size_t passes = job.order.ranks[static_cast<std::size_t>(stage.rank)].size();
    first_forward_of_.resize(passes);
    last_backward_of_.resize(passes);
    reduces_after_.resize(passes);
    gathers_before_.resize(passes);
    if (is_active_) {
        prepare_comms(costs);
        find_turns();
    }
}

void DataParallel::prepare_comms(CostTableBuilder& costs) {
    const bool is_distributed =
        job_->plan->data_parallel_kind == DataParallelKind::DistributedOptimizer;
    const double gradient_bytes = bytes_per_element(job_->plan->grad_reduce_dtype);
    const StateBytes state = state_bytes(*job_->training, job_->plan->grad_reduce_dtype);
    ProgramSetBuilder& shared = writer_->builder().shared();
    Communication reduction{
        .kind = is_distributed ? CollectiveKind::ReduceScatter : CollectiveKind::AllReduce,
        .dimension = Dimension::Data,
        .group = GroupKind::Data,
        .bytes = 0,
        .peer_stage = 0,
        .name = shared.name("gradient reduction")};
    Communication gather{.kind = CollectiveKind::AllGather,
                         .dimension = Dimension::Data,
                         .group = GroupKind::Data,
                         .bytes = 0,
                         .peer_stage = 0,
                         .name = shared.name("parameter gather")};
    for (const GradientBuffer& buffer : buffers_) {
        auto& states = state_.emplace_back();
        for (const Bucket& bucket : buffer.buckets) {
            const double buffer_bytes = gradient_bytes * static_cast<double>(bucket.elements);
            reduction.bytes = std::llround(buffer_bytes);
            gather.bytes = state.parameter * bucket.elements;
            BucketState of_bucket;
            of_bucket.reduce = shared.communication(reduction);
            if (is_distributed) {
                of_bucket.gather_comm = shared.communication(gather);
            }
            of_bucket.scale = costs.add(MemoryBoundKernel{.op = "scale",
                                                          .pass = KernelPass::Backward,
                                                          .rows = 1,
                                                          .width = bucket.elements,
                                                          .dtype = job_->plan->grad_reduce_dtype,
                                                          .read = Bytes(buffer_bytes),
                                                          .written = Bytes(buffer_bytes)});
            states.push_back(of_bucket);
        }
    }
}

void DataParallel::find_turns() {
    const auto& passes = job_->order.ranks[static_cast<std::size_t>(stage_->rank)];
    std::vector<std::size_t> forwards;
    std::vector<std::size_t> backwards;
    std::vector<std::optional<std::size_t>> last_step(stage_->chunks.size());
    std::vector<bool> is_seen(stage_->chunks.size(), false);
    for (std::size_t k = 0; k < passes.size(); ++k) {
        const auto chunk = static_cast<std::size_t>(passes[k].chunk);
        if (passes[k].kind == PassKind::Forward) {
            first_forward_of_[k] = is_seen[chunk] ? std::nullopt : std::optional(chunk);
            is_seen[chunk] = true;
            forwards.push_back(k);
        } else if (passes[k].kind != PassKind::InputGradient) {
            last_step[chunk] = backwards.size();
            backwards.push_back(k);
        }
    }
    const auto r = static_cast<std::size_t>(stage_->rank);
    const bool overlaps = job_->plan->overlap_grad_reduce;
    reduces_under_backward_ = overlaps && !has_virtual_stages_ && r == 0;
    for (std::size_t chunk = 0; chunk < stage_->chunks.size(); ++chunk) {
        last_backward_of_[backwards[*last_step[chunk]]] = chunk;
        if (overlaps && has_virtual_stages_ && *last_step[chunk] + r < backwards.size()) {
            reduces_after_[backwards[*last_step[chunk] + r]] = chunk;
        }
    }
    for (std::size_t k = 0; has_virtual_stages_ && k + r < forwards.size(); ++k) {
        const auto chunk = first_forward_of_[forwards[k + r]];
        if (chunk && *chunk + 1 > 1 && *chunk + 1 < stage_->chunks.size()) {
            gathers_before_[forwards[k]] = *chunk + 1;
        }
    }
}

void DataParallel::begin_step() {
    if (!gathers_under_forward_) {
        return;
    }
    // The compute stream's position: behind the last step's optimizer, which made the parameters.
    writer_->mark();
    if (has_virtual_stages_) {
        gather_chunk(0);
        gather_chunk(1);
    }
}

void DataParallel::before_pass(std::size_t pass) {
    if (gathers_under_forward_ && gathers_before_[pass]) {
        gather_chunk(*gathers_before_[pass]);
    }
}

void DataParallel::after_pass(std::size_t pass) {
    if (reduces_after_[pass]) {
        reduce_chunk(*reduces_after_[pass]);
    }
}

OperatorHook DataParallel::before_operators(std::size_t pass) {
    if (!gathers_under_forward_ || !first_forward_of_[pass]) {
        return {};
    }
    return [this, chunk = *first_forward_of_[pass]](std::size_t block, std::size_t op) {
        wait_for_parameters(chunk, block, op);
    };
}

OperatorHook DataParallel::after_operators(std::size_t pass) {
    if (!is_active_ || !reduces_under_backward_ || !last_backward_of_[pass]) {
        return {};
    }
    return [this, chunk = *last_backward_of_[pass]](std::size_t block, std::size_t op) {
        const auto& buckets = buffers_[chunk].buckets;
        for (std::size_t b = 0; b < buckets.size(); ++b) {
            const Parameter& last_ready = stage_->chunks[chunk].parameters[buckets[b].first];
            if (last_ready.block == block && last_ready.op == op) {
                reduce(chunk, b);
            }
        }
    };
}

void DataParallel::reduce(std::size_t chunk, std::size_t bucket) {
    BucketState& state = state_[chunk][bucket];
    if (std::exchange(state.is_reducing, true)) {
        return;
    }
    ProgramBuilder::Label label = writer_->builder().label();
    label.work = Work::Optimizer;
    label.layer = -1;
    label.chunk = static_cast<std::int16_t>(chunk);
    writer_->builder().set_label(label);
    writer_->kernel(state.scale, scale_name_);
    reductions_.push_back(writer_->collective(StreamKind::Data, state.reduce));
}

void DataParallel::reduce_chunk(std::size_t chunk) {
    for (std::size_t b = 0; b < state_[chunk].size(); ++b) {
        reduce(chunk, b);
    }
}

void DataParallel::gather(std::size_t chunk, std::size_t bucket) {
    BucketState& state = state_[chunk][bucket];
    if (!state.gather) {
        state.gather = writer_->collective(StreamKind::Data, state.gather_comm);
    }
}

void DataParallel::gather_chunk(std::size_t chunk) {
    ProgramBuilder::Label label = writer_->builder().label();
    label.layer = -1;
    label.chunk = static_cast<std::int16_t>(chunk);
    writer_->builder().set_label(label);
    // Buckets fill in backward's order; forward reads the last one first.
    for (std::size_t b = state_[chunk].size(); b-- > 0;) {
        gather(chunk, b);
    }
}

void DataParallel::wait_for_parameters(std::size_t chunk, std::size_t block, std::size_t op) {
    const auto& parameters = stage_->chunks[chunk].parameters;
    for (std::size_t b = state_[chunk].size(); b-- > 0;) {
        const Bucket& bucket = buffers_[chunk].buckets[b];
        BucketState& state = state_[chunk][b];
        if (state.is_gathered) {
            continue;
        }
        // Parameters lie in model order: the bucket is needed from its first one's operator on.
        const Parameter& first = parameters[bucket.first];
        if (std::pair(first.block, first.op) > std::pair(block, op)) {
            return;
        }
        gather(chunk, b);
        writer_->join(*state.gather);
        state.is_gathered = true;
        if (b > 0) {
            gather(chunk, b - 1);
        }
    }
}

void DataParallel::finish_gradients() {
    for (std::size_t chunk = 0; chunk < state_.size(); ++chunk) {
        reduce_chunk(chunk);
    }
    for (const InstructionId id : reductions_) {
        writer_->join(id);
    }
}

void DataParallel::gather_after_optimizer() {
    if (!is_active_ || gathers_under_forward_ ||
        job_->plan->data_parallel_kind != DataParallelKind::DistributedOptimizer) {
        return;
    }
    for (std::size_t chunk = 0; chunk < state_.size(); ++chunk) {
        gather_chunk(chunk);
        for (const BucketState& state : state_[chunk]) {
            writer_->join(*state.gather);
        }
    }
}

}  // namespace orrery
