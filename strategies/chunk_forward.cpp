// SPDX-License-Identifier: Apache-2.0
#include "strategies/chunk_passes.hpp"

#include <utility>

namespace orrery {

namespace {

void append(std::vector<TensorId>& to, const std::vector<TensorId>& from) {
    to.insert(to.end(), from.begin(), from.end());
}

bool ends_half_layer(OperatorKind kind) {
    return kind == OperatorKind::AttentionResidual || kind == OperatorKind::MlpResidual;
}

/// Rewrites q and k; v stays in the packed product until attention reads it.
bool keeps_packed_input(OperatorKind kind) {
    return kind == OperatorKind::QkNorm || kind == OperatorKind::Rotary;
}

}  // namespace

ChunkPasses::ChunkPasses(const Job& job, const Stage& stage, StageWriter& writer)
    : job_(&job),
      stage_(&stage),
      writer_(&writer),
      activation_bytes_(local_bytes(whole_activation_bytes(job.shape, job.model->hidden),
                                    Region::Sequence, job.shape)),
      layer_input_(
          writer.builder().tensor("layer input", MemoryCategory::Activations, activation_bytes_)) {
    for (const Chunk& chunk : stage.chunks) {
        segments_.push_back(recompute_segments(*job.plan, chunk));
    }
}

void ChunkPasses::label(Work work, std::size_t block) {
    writer_->builder().set_label({.work = work,
                                  .microbatch = pass_.microbatch,
                                  .layer = static_cast<std::int16_t>(chunk_->blocks[block].layer),
                                  .chunk = static_cast<std::int16_t>(pass_.chunk)});
}

void ChunkPasses::forward(const Pass& pass, std::optional<TensorId> input,
                          std::optional<TensorId> output, const OperatorHook& before) {
    const auto at = static_cast<std::size_t>(pass.chunk);
    chunk_ = &stage_->chunks[at];
    pass_ = pass;
    work_ = Work::Forward;
    input_ = input;
    for (const Segment& segment : segments_[at]) {
        const bool is_last = segment.end == chunk_->blocks.size();
        output_ = is_last ? output : std::nullopt;
        if (segment.keep == Keep::InputOnly) {
            label(work_, segment.begin);
            writer_->allocate({&layer_input_, 1});
        }
        forward_segment(*chunk_, segment, segment.keep, &before);
    }
    if (chunk_->blocks.empty()) {  // a virtual stage without layers hands its input on
        writer_->builder().set_label({.work = work_,
                                      .microbatch = pass.microbatch,
                                      .layer = -1,
                                      .chunk = static_cast<std::int16_t>(pass.chunk)});
        writer_->allocate({&*output, 1});
        writer_->free({&*input, 1});
        input_.reset();
    }
}

void ChunkPasses::forward_segment(const Chunk& chunk, const Segment& segment, Keep keep,
                                  const OperatorHook* before) {
    const std::optional<TensorId> output = std::exchange(output_, std::nullopt);
    for (std::size_t b = segment.begin; b < segment.end; ++b) {
        const auto& operators = chunk.blocks[b].operators;
        label(work_, b);
        for (std::size_t i = 0; i < operators.size(); ++i) {
            const bool is_core = operators[i].kind == OperatorKind::CoreAttention;
            const bool next_is_core =
                i + 1 < operators.size() && operators[i + 1].kind == OperatorKind::CoreAttention;
            const bool is_last = b + 1 == segment.end && i + 1 == operators.size();
            output_ = is_last ? output : std::nullopt;
            if (before != nullptr && *before) {
                (*before)(b, i);
            }
            forward_operator(operators[i], keep, is_core && !next_is_core);
        }
    }
    // Nothing that a later segment could still read: what it needs, it or its norm keeps.
    append(scratch_, transients_);
    writer_->free(scratch_);
    transients_.clear();
    scratch_.clear();
    output_.reset();
}

void ChunkPasses::forward_operator(const StageOperator& op, Keep keep, bool ends_core) {
    const bool has_transient_output = !op.output_is_kept && !output_;
    const bool needs_partial = op.comms.forward_reduce && op.comms.scatters;
    std::vector<TensorId> wanted = op.saved;
    append(wanted, op.saved_for_next_weights);
    append(wanted, op.core_attention);
    if (output_ || has_transient_output) {
        wanted.push_back(output_ ? *output_ : op.output);
    }
    if (op.comms.forward_gather || needs_partial) {
        wanted.push_back(op.whole);
    }
    writer_->allocate(wanted);
    if (op.comms.forward_gather) {
        writer_->join(writer_->collective(StreamKind::Tensor, *op.comms.forward_gather));
    }
    run_forward_kernels(op);

    std::vector<TensorId> released;
    if (op.comms.forward_gather) {
        released.push_back(op.whole);
    }
    if (input_) {
        released.push_back(*input_);
        input_.reset();
    }
    if (!keeps_packed_input(op.kind)) {
        append(released, transients_);
        transients_.clear();
    }
    if (keep == Keep::InputOnly) {
        append(scratch_, op.saved);
        append(scratch_, op.saved_for_next_weights);
    }
    if (keep != Keep::All) {
        append(scratch_, op.core_attention);
    }
    if (ends_half_layer(op.kind) || (keep == Keep::WithoutCoreAttention && ends_core)) {
        append(released, scratch_);
        scratch_.clear();
    }
    writer_->free(released);
    if (has_transient_output) {
        transients_.push_back(op.output);
    }
    if (op.comms.forward_reduce) {
        const InstructionId reduced =
            writer_->collective(StreamKind::Tensor, *op.comms.forward_reduce);
        writer_->join(reduced);
        if (needs_partial) {
            writer_->builder().free(StreamKind::Tensor, {&op.whole, 1});
        }
    }
}

void ChunkPasses::run_forward_kernels(const StageOperator& op) {
    std::size_t next_comm = 0;
    for (std::size_t k = 0; k < op.forward.size(); ++k) {
        writer_->kernel(op.forward[k], op.name);
        for (; next_comm < op.comms.loss.size() && op.comms.loss[next_comm].after <= k;
             ++next_comm) {
            writer_->join(writer_->collective(StreamKind::Tensor, op.comms.loss[next_comm].comm));
        }
    }
}

void ChunkPasses::recompute_core(const Block& block) {
    std::vector<TensorId> outputs;
    for (const StageOperator& op : block.operators) {
        if (op.kind != OperatorKind::CoreAttention) {
            continue;
        }
        std::vector<TensorId> wanted = op.core_attention;
        if (!op.output_is_kept) {
            wanted.push_back(op.output);
        }
        writer_->allocate(wanted);
        run_forward_kernels(op);
        writer_->free(outputs);
        outputs.clear();
        if (!op.output_is_kept) {
            outputs.push_back(op.output);
        }
    }
    writer_->free(outputs);
}

}  // namespace orrery
