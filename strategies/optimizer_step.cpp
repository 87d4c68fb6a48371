// SPDX-License-Identifier: Apache-2.0
#include "strategies/optimizer_step.hpp"

#include "model/dtype.hpp"
#include "strategies/memory/state.hpp"

#include <cmath>
#include <string>

namespace orrery {

namespace {

/// Writes kernels over `elements` numbers and collectives of the step's end.
class StepWriter {
  public:
    StepWriter(const Job& job, StageWriter& writer, CostTableBuilder& costs)
        : job_(&job), writer_(&writer), costs_(&costs) {}

    void kernel(const char* op, std::int64_t elements, StepTraffic traffic) {
        const auto count = static_cast<double>(elements);
        const CostId cost = costs_->add(
            MemoryBoundKernel{.op = op,
                              .pass = KernelPass::Forward,
                              .rows = 1,
                              .width = elements,
                              .dtype = Dtype::Fp32,
                              .read = Bytes(static_cast<double>(traffic.read) * count),
                              .written = Bytes(static_cast<double>(traffic.written) * count)});
        writer_->kernel(cost, writer_->builder().shared().name(op));
    }

    InstructionId all_reduce(StreamKind stream, Dimension dimension, GroupKind group,
                             std::int64_t bytes, const char* name) {
        ProgramSetBuilder& shared = writer_->builder().shared();
        return writer_->collective(stream, shared.communication({.kind = CollectiveKind::AllReduce,
                                                                 .dimension = dimension,
                                                                 .group = group,
                                                                 .bytes = bytes,
                                                                 .peer_stage = 0,
                                                                 .name = shared.name(name)}));
    }

    /// Of one element of the gradient buffer.
    [[nodiscard]] std::int64_t gradient_bytes() const {
        return state_bytes(*job_->training, job_->plan->grad_reduce_dtype).gradient;
    }

  private:
    const Job* job_;
    StageWriter* writer_;
    CostTableBuilder* costs_;
};

void reduce_partial_gradients(const Stage& stage, StageWriter& writer, StepWriter& step) {
    std::int64_t elements = 0;
    for (const Chunk& chunk : stage.chunks) {
        for (const Parameter& parameter : chunk.parameters) {
            elements += parameter.has_partial_gradient ? parameter.elements : 0;
        }
    }
    if (elements > 0) {
        writer.join(step.all_reduce(StreamKind::Tensor, Dimension::Tensor, GroupKind::Tensor,
                                    elements * step.gradient_bytes(),
                                    "replicated parameters' gradient reduction"));
    }
}

void reduce_tied_embeddings(const Job& job, const Stage& stage, StageWriter& writer,
                            StepWriter& step) {
    const bool is_end = stage.rank == 0 || stage.rank + 1 == job.plan->pipeline;
    if (!job.model->tied_embeddings || job.plan->pipeline == 1 || !is_end) {
        return;
    }
    const std::int64_t elements = job.shape.padded_vocab / job.shape.tensor * job.model->hidden;
    writer.join(step.all_reduce(StreamKind::Data, Dimension::Pipeline, GroupKind::Embedding,
                                elements * step.gradient_bytes(),
                                "tied embedding gradient reduction"));
}

/// FP16's loss scaling: gradients are unscaled and looked through for infinities; all ranks must
/// know, and the host, whether the step is taken. Source: Megatron-LM optimizer.py.
void check_overflow(StepWriter& step, StageWriter& writer, const OptimizerShard& shard,
                    std::int64_t world) {
    const std::int64_t gradient = step.gradient_bytes();
    step.kernel("scale", shard.elements, {gradient, gradient});
    if (world > 1) {
        const InstructionId found = step.all_reduce(StreamKind::Data, Dimension::Data,
                                                    GroupKind::World, 4, "overflow check");
        writer.host_wait(found);
        writer.join(found);
    }
}

}  // namespace

OptimizerShard optimizer_shard(const Job& job, const std::vector<GradientBuffer>& buffers) {
    OptimizerShard shard;
    for (const GradientBuffer& buffer : buffers) {
        shard.gradients += buffer.elements();
    }
    const bool is_distributed =
        job.plan->data_parallel_kind == DataParallelKind::DistributedOptimizer;
    shard.elements = is_distributed ? shard.gradients / job.gradient_ranks() : shard.gradients;
    return shard;
}

void write_optimizer_step(const Job& job, const Stage& stage, const OptimizerShard& shard,
                          DataParallel& data, StageWriter& writer, CostTableBuilder& costs) {
    StepWriter step(job, writer, costs);
    writer.builder().set_label(
        {.work = Work::Optimizer, .microbatch = -1, .layer = -1, .chunk = 0});
    data.finish_gradients();
    writer.builder().set_label(
        {.work = Work::Optimizer, .microbatch = -1, .layer = -1, .chunk = 0});
    reduce_partial_gradients(stage, writer, step);
    reduce_tied_embeddings(job, stage, writer, step);

    const std::int64_t gradient = step.gradient_bytes();
    const std::int64_t world = job.plan->tensor * job.plan->pipeline * job.gradient_ranks();
    if (job.training->precision == Precision::Fp16) {
        check_overflow(step, writer, shard, world);
    }
    step.kernel("grad_norm", shard.elements, {gradient, 0});
    if (world > 1) {
        const InstructionId norm = step.all_reduce(StreamKind::Data, Dimension::Data,
                                                   GroupKind::World, 4, "gradient norm reduction");
        writer.host_wait(norm);
        writer.join(norm);
    }
    step.kernel("scale", shard.elements, {gradient, gradient});
    step.kernel(job.training->optimizer == Optimizer::Adam ? "adam" : "sgd", shard.elements,
                step_traffic(*job.training, job.plan->grad_reduce_dtype));
    data.gather_after_optimizer();
    step.kernel("memset", shard.gradients, {0, gradient});
}

}  // namespace orrery
