// SPDX-License-Identifier: Apache-2.0
#include "base/assert.hpp"
#include "strategies/chunk_passes.hpp"

#include <utility>

namespace orrery {

namespace {

void append(std::vector<TensorId>& to, const std::vector<TensorId>& from) {
    to.insert(to.end(), from.begin(), from.end());
}

/// Has a weight gradient that can run apart from its input gradient: the linear layers. A norm's
/// come out of one kernel.
bool is_deferrable(const StageOperator& op) {
    return op.is_linear && !op.weight_gradient.empty();
}

Work work_of(PassKind kind) {
    switch (kind) {
        case PassKind::Forward:
            return Work::Forward;
        case PassKind::InputGradient:
            return Work::InputGradient;
        case PassKind::WeightGradient:
            return Work::WeightGradient;
        case PassKind::Backward:
            break;
    }
    return Work::Backward;
}

}  // namespace

std::optional<TensorId> ChunkPasses::backward(const Pass& pass, std::optional<TensorId> gradient,
                                              const OperatorHook& after) {
    const auto at = static_cast<std::size_t>(pass.chunk);
    chunk_ = &stage_->chunks[at];
    pass_ = pass;
    work_ = work_of(pass.kind);
    is_first_gradient_ = passes_seen_.insert({pass.kind, pass.chunk}).second;
    if (pass.kind == PassKind::WeightGradient) {
        weight_pass(after);
        return std::nullopt;
    }
    gradient_ = gradient ? std::optional(Gradient{*gradient, true}) : std::nullopt;
    residual_.reset();
    for (std::size_t s = segments_[at].size(); s-- > 0;) {
        const Segment& segment = segments_[at][s];
        if (segment.keep == Keep::InputOnly) {
            label(Work::Recompute, segment.begin);
            // From here on the first norm's saved input stands for it.
            writer_->free({&layer_input_, 1});
            work_ = Work::Recompute;
            forward_segment(*chunk_, segment, Keep::All, nullptr);
            work_ = work_of(pass.kind);
        }
        for (std::size_t b = segment.end; b-- > segment.begin;) {
            backward_block(b, segment.keep, after);
        }
    }
    const std::optional<Gradient> input_gradient = std::exchange(gradient_, std::nullopt);
    if (!chunk_->is_first) {
        ORRERY_ASSERT(input_gradient && input_gradient->is_owned, "the first operator is a norm");
        return input_gradient->tensor;
    }
    if (input_gradient && input_gradient->is_owned) {
        writer_->free({&input_gradient->tensor, 1});
    }
    return std::nullopt;
}

void ChunkPasses::backward_block(std::size_t block, Keep keep, const OperatorHook& after) {
    const Block& of = chunk_->blocks[block];
    bool is_recomputed = keep != Keep::WithoutCoreAttention;
    for (std::size_t i = of.operators.size(); i-- > 0;) {
        if (!is_recomputed && of.operators[i].kind == OperatorKind::CoreAttention) {
            label(Work::Recompute, block);
            recompute_core(of);
            is_recomputed = true;
        }
        label(work_, block);
        backward_operator(block, i, after);
    }
}

void ChunkPasses::backward_operator(std::size_t block, std::size_t index,
                                    const OperatorHook& after) {
    const StageOperator& op = chunk_->blocks[block].operators[index];
    const bool defers = pass_.kind == PassKind::InputGradient && is_deferrable(op);
    std::vector<TensorId> released = op.core_attention;
    Deferred later{block, index, {}};
    run_backward_kernels(op, defers);
    append(defers ? later.tensors : released, op.saved);
    append(pass_.kind == PassKind::InputGradient ? later.tensors : released,
           op.saved_for_next_weights);
    pass_gradient_on(op, defers, released, later.tensors);
    writer_->free(released);
    if (pass_.kind == PassKind::InputGradient && (defers || !later.tensors.empty())) {
        deferred_[{pass_.microbatch, pass_.chunk}].push_back(std::move(later));
    }
    if (pass_.kind == PassKind::Backward && after) {
        after(block, index);
    }
}

void ChunkPasses::write_weight_gradient(const StageOperator& op) {
    for (const CostId cost : op.weight_gradient) {
        writer_->kernel(cost, op.name);
    }
    if (!is_first_gradient_) {
        for (const CostId cost : op.gradient_accumulation) {
            writer_->kernel(cost, op.name);
        }
    }
}

void ChunkPasses::run_backward_kernels(const StageOperator& op, bool defers) {
    const TensorComms& comms = op.comms;
    const bool runs_weights = !defers && !op.weight_gradient.empty();
    const bool gathers_gradient =
        comms.gradient_gather && (runs_weights || !op.input_gradient.empty());
    const bool gathers_input = comms.input_gather && runs_weights;
    const bool has_partial = comms.gradient_reduce && comms.scatters;
    std::vector<TensorId> buffers;
    if (gathers_gradient) {
        buffers.push_back(op.whole);
    }
    if (gathers_input) {
        buffers.push_back(op.whole);
    }
    std::vector<TensorId> wanted = buffers;
    if (!op.input_gradient.empty()) {
        wanted.push_back(op.input_gradient_tensor);
    }
    if (has_partial) {
        wanted.push_back(op.whole);
    }
    writer_->allocate(wanted);
    if (gathers_gradient) {
        writer_->join(writer_->collective(StreamKind::Tensor, *comms.gradient_gather));
    }
    std::optional<InstructionId> gathered;
    if (gathers_input) {
        gathered = writer_->collective(StreamKind::Tensor, *comms.input_gather);
    }
    for (const CostId cost : op.input_gradient) {
        writer_->kernel(cost, op.name);
    }
    std::optional<InstructionId> reduced;
    if (comms.gradient_reduce) {
        reduced = writer_->collective(StreamKind::Tensor, *comms.gradient_reduce);
        if (has_partial) {
            writer_->builder().free(StreamKind::Tensor, {&op.whole, 1});
        }
    }
    if (gathered) {
        writer_->join(*gathered);
    }
    if (runs_weights) {
        write_weight_gradient(op);
    }
    writer_->free(buffers);
    if (reduced) {
        writer_->join(*reduced);
    }
}

void ChunkPasses::pass_gradient_on(const StageOperator& op, bool defers,
                                   std::vector<TensorId>& released,
                                   std::vector<TensorId>& deferred) {
    const std::optional<Gradient> of_output = gradient_;
    const bool makes_own = !op.input_gradient.empty();
    const bool splits =
        op.kind == OperatorKind::AttentionResidual || op.kind == OperatorKind::MlpResidual;
    if (makes_own) {
        gradient_ = Gradient{op.input_gradient_tensor, true};
    }
    if (splits) {
        residual_ = of_output->tensor;
        residual_is_deferred_ = false;
        gradient_->is_owned = makes_own;
        return;
    }
    if (of_output && defers) {
        if (of_output->is_owned) {
            deferred.push_back(of_output->tensor);
        } else {
            residual_is_deferred_ = true;
        }
        if (!makes_own) {
            gradient_.reset();
        }
    } else if (of_output && makes_own && of_output->is_owned) {
        released.push_back(of_output->tensor);
    }
    const bool joins = op.kind == OperatorKind::InputNorm || op.kind == OperatorKind::MlpNorm;
    if (joins && residual_) {
        (residual_is_deferred_ ? deferred : released).push_back(*residual_);
        residual_.reset();
    }
}

void ChunkPasses::weight_pass(const OperatorHook& after) {
    if (chunk_->blocks.empty()) {
        return;
    }
    const auto found = deferred_.find({pass_.microbatch, pass_.chunk});
    ORRERY_ASSERT(found != deferred_.end(), "a weight gradient follows its input gradient");
    const std::vector<Deferred> list = std::move(found->second);
    deferred_.erase(found);
    std::size_t next = 0;
    for (std::size_t b = chunk_->blocks.size(); b-- > 0;) {
        for (std::size_t i = chunk_->blocks[b].operators.size(); i-- > 0;) {
            label(work_, b);
            if (next < list.size() && list[next].block == b && list[next].op == i) {
                weight_operator(chunk_->blocks[b].operators[i], list[next]);
                ++next;
            }
            if (after) {
                after(b, i);
            }
        }
    }
}

void ChunkPasses::weight_operator(const StageOperator& op, const Deferred& deferred) {
    if (is_deferrable(op)) {
        const auto gather =
            op.comms.gradient_gather ? op.comms.gradient_gather : op.comms.input_gather;
        if (gather) {
            writer_->allocate({&op.whole, 1});
            writer_->join(writer_->collective(StreamKind::Tensor, *gather));
        }
        write_weight_gradient(op);
        if (gather) {
            writer_->free({&op.whole, 1});
        }
    }
    writer_->free(deferred.tensors);
}

}  // namespace orrery
