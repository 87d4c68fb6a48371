// SPDX-License-Identifier: Apache-2.0
#include "strategies/build_programs.hpp"

#include "base/assert.hpp"
#include "strategies/chunk_passes.hpp"
#include "strategies/data_parallel.hpp"
#include "strategies/gradient_buckets.hpp"
#include "strategies/memory/state.hpp"
#include "strategies/optimizer_step.hpp"
#include "strategies/pipeline.hpp"
#include "strategies/schedule/plan_order.hpp"
#include "strategies/stage.hpp"
#include "strategies/stage_writer.hpp"

#include <array>
#include <cmath>
#include <utility>

namespace orrery {

namespace {

Job make_job(const Transformer& model, const Training& training, const Plan& plan,
             const FrameworkProfile& framework) {
    Job job;
    job.model = &model;
    job.training = &training;
    job.plan = &plan;
    job.framework = &framework;
    job.shape = {.batch = training.micro_batch,
                 .sequence = training.sequence_length / plan.context,
                 .tensor = plan.tensor,
                 .padded_vocab = padded_vocab(model, plan.tensor),
                 .sequence_parallel = plan.sequence_parallel && plan.tensor > 1,
                 .reduces_in_fp32 = plan.grad_reduce_dtype == Dtype::Fp32};
    auto order =
        plan_order(plan, num_microbatches(plan, training.global_batch, training.micro_batch));
    ORRERY_ASSERT(order.has_value(), "check_schedule is among the checks that a plan passed");
    job.order = std::move(*order);
    return job;
}

/// What a rank holds from before the step to after it.
void keep_state(const Job& job, const Stage& stage, const std::vector<GradientBuffer>& buffers,
                ProgramBuilder& builder) {
    const StateBytes bytes = state_bytes(*job.training, job.plan->grad_reduce_dtype);
    const bool is_distributed =
        job.plan->data_parallel_kind == DataParallelKind::DistributedOptimizer;
    const std::int64_t shards = is_distributed ? job.gradient_ranks() : 1;
    const auto keep = [&](const char* name, MemoryCategory category, std::int64_t size) {
        if (size > 0) {
            builder.keep(builder.tensor(name, category, size));
        }
    };
    for (std::size_t c = 0; c < stage.chunks.size(); ++c) {
        const std::int64_t elements = buffers[c].elements();
        keep("parameters", MemoryCategory::Parameters, bytes.parameter * elements);
        keep("gradient buffer", MemoryCategory::Gradients, bytes.gradient * elements);
        keep("optimizer state", MemoryCategory::Optimizer, bytes.optimizer * (elements / shards));
    }
    keep("framework", MemoryCategory::Framework,
         std::llround(job.framework->framework_memory.si()));
    keep("GEMM workspace", MemoryCategory::Workspace,
         std::llround(job.framework->gemm_workspace.si()));
}

/// One buffer for each kind of group that this rank communicates in.
void keep_communicator_buffers(const Job& job, const ProgramSet& set, Program& program,
                               TensorId buffer) {
    std::array<bool, kNumGroupKinds> is_used{};
    for (const Instruction& instruction : program.instructions) {
        const bool communicates = instruction.kind == InstructionKind::Collective ||
                                  instruction.kind == InstructionKind::Send ||
                                  instruction.kind == InstructionKind::Recv;
        if (communicates) {
            const Communication& comm = set.communications[CommId(instruction.payload)];
            is_used[static_cast<std::size_t>(comm.group)] = true;
        }
    }
    for (const bool used : is_used) {
        if (used && job.framework->communicator_buffer.si() > 0) {
            program.persistent.push_back(buffer);
        }
    }
}

struct WrittenStage {
    Program program;
    TensorId communicator_buffer;
    bool gathers_under_forward = false;
};

/// One rank's step, the strategies in the order in which they apply.
WrittenStage write_stage(const Job& job, std::int64_t rank, ProgramSetBuilder& shared,
                         CostTableBuilder& costs) {
    ProgramBuilder builder(shared, rank);
    const Stage stage = build_stage(job, rank, builder, costs);
    const std::vector<GradientBuffer> buffers = stage_gradients(job, stage);
    keep_state(job, stage, buffers, builder);

    StageWriter writer(builder);
    ChunkPasses passes(job, stage, writer);
    DataParallel data(job, stage, buffers, writer, costs);
    PipelineWriter pipeline(job, stage, passes, data, writer);
    data.begin_step();
    pipeline.write();
    write_optimizer_step(job, stage, optimizer_shard(job, buffers), data, writer, costs);

    WrittenStage written;
    written.gathers_under_forward = data.gathers_under_forward();
    written.communicator_buffer =
        builder.tensor("communicator buffer", MemoryCategory::Communication,
                       std::llround(job.framework->communicator_buffer.si()));
    written.program = builder.take();
    return written;
}

}  // namespace

Diagnostics check_schedule(const Plan& plan, const Training& training) {
    const auto order =
        plan_order(plan, num_microbatches(plan, training.global_batch, training.micro_batch));
    return order ? Diagnostics{} : order.error();
}

BuiltPrograms build_programs(const Transformer& model, const Training& training, const Plan& plan,
                             const FrameworkProfile& framework, const KernelTimes& times,
                             Seconds kernel_gap) {
    const Job job = make_job(model, training, plan, framework);
    ProgramSetBuilder shared;
    CostTableBuilder costs(times, kernel_gap);
    std::vector<WrittenStage> stages;
    stages.reserve(static_cast<std::size_t>(plan.pipeline));
    for (std::int64_t rank = 0; rank < plan.pipeline; ++rank) {
        stages.push_back(write_stage(job, rank, shared, costs));
    }

    BuiltPrograms built;
    built.programs = shared.take();
    ProgramSet& set = built.programs;
    for (WrittenStage& stage : stages) {
        keep_communicator_buffers(job, set, stage.program, stage.communicator_buffer);
        set.crosses_step_border = set.crosses_step_border || stage.gathers_under_forward;
        set.program_of_stage.push_back(set.programs.push_back(std::move(stage.program)));
    }
    const auto launch = [&](LaunchClass launch_class, Seconds cost) {
        set.launch_costs[static_cast<std::size_t>(launch_class)] = SimTime::from(cost);
    };
    launch(LaunchClass::Kernel, framework.kernel_launch);
    launch(LaunchClass::Collective, framework.collective_launch);
    launch(LaunchClass::PointToPoint, framework.point_to_point_launch);
    built.costs = costs.take();
    return built;
}

}  // namespace orrery
