// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/strategies/toy_job.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace orrery::toy {

Transformer gpt(std::int64_t layers, std::int64_t hidden, std::int64_t heads) {
    Transformer model;
    model.name = "gpt";
    model.layers = layers;
    model.hidden = hidden;
    model.ffn_hidden = 4 * hidden;
    model.heads = heads;
    model.kv_heads = heads;
    model.head_dim = hidden / heads;
    model.vocab = 51200;
    model.vocab_divisible_by = 1;
    model.max_positions = 2048;
    model.norm = NormKind::LayerNorm;
    model.mlp = MlpKind::Gelu;
    model.position = PositionKind::Learned;
    model.qkv_bias = true;
    model.projection_bias = true;
    model.mlp_bias = true;
    model.tied_embeddings = true;
    model.dropout = 0.1;
    return model;
}

Transformer llama(std::int64_t layers, std::int64_t hidden, std::int64_t ffn, std::int64_t heads,
                  std::int64_t kv_heads, std::int64_t vocab) {
    Transformer model;
    model.name = "llama";
    model.layers = layers;
    model.hidden = hidden;
    model.ffn_hidden = ffn;
    model.heads = heads;
    model.kv_heads = kv_heads;
    model.head_dim = hidden / heads;
    model.vocab = vocab;
    return model;
}

Transformer llama_8b() {
    return llama(32, 4096, 14336, 32, 8, 128256);
}

Transformer small_llama(std::int64_t layers) {
    return llama(layers, 512, 1536, 8, 4, 1024);
}

Training training(std::int64_t sequence, std::int64_t global_batch, std::int64_t micro_batch) {
    Training training;
    training.sequence_length = sequence;
    training.global_batch = global_batch;
    training.micro_batch = micro_batch;
    return training;
}

Plan plan(std::int64_t layers, std::int64_t tensor, std::int64_t pipeline,
          std::int64_t virtual_stages, std::int64_t data) {
    Plan plan;
    plan.tensor = tensor;
    plan.pipeline = pipeline;
    plan.virtual_stages = virtual_stages;
    plan.microbatch_group = pipeline;
    plan.data = data;
    plan.stage_layers = split_layers(layers, pipeline * virtual_stages, false, false);
    plan.schedule = virtual_stages > 1 ? ScheduleKind::Interleaved : ScheduleKind::OneFOneB;
    plan.overlap_p2p = virtual_stages > 1;
    plan.data_parallel_kind = DataParallelKind::Ddp;
    plan.zero = ZeroStage::None;
    return plan;
}

BuiltPrograms build(const Transformer& model, const Training& training, const Plan& plan) {
    GpuProfile gpu;
    gpu.name = "toy";
    gpu.peak = {{Dtype::Bf16, FlopPerSecond(1e15)}, {Dtype::Fp16, FlopPerSecond(1e15)}};
    gpu.hbm_bandwidth = BytesPerSecond(3e12);
    gpu.l2 = Bytes(5e7);
    gpu.memory_capacity = Bytes(8e10);
    gpu.sms = 128;
    gpu.gemm = {{Dtype::Bf16, {Seconds(2e-6), 0.8, 0.8, 3.0, 0.05}}};
    gpu.attention = {{Dtype::Bf16, {Seconds(5e-6), 0.7, 500.0, 0.85, 0.05}}};
    gpu.memory_bound = {{"*/forward/fused", {Seconds(2e-6), 0.9, 0.05}},
                        {"*/backward/fused", {Seconds(2e-6), 0.9, 0.05}}};
    FrameworkProfile framework;
    framework.name = "TOY";
    framework.impl = "fused";
    framework.kernel_launch = Seconds(4e-6);
    framework.collective_launch = Seconds(8e-6);
    framework.point_to_point_launch = Seconds(9e-6);
    framework.framework_memory = Bytes(1e9);
    framework.gemm_workspace = Bytes(6.4e7);
    framework.communicator_buffer = Bytes(1e7);
    return build_programs(model, training, plan, framework, KernelTimes(gpu, framework),
                          Seconds(1e-6));
}

const Program& program(const BuiltPrograms& built, std::int64_t stage) {
    return built.programs
        .programs[built.programs.program_of_stage[static_cast<std::size_t>(stage)]];
}

std::vector<Communication> communications(const BuiltPrograms& built, std::int64_t stage,
                                          const InstructionFilter& filter) {
    std::vector<Communication> list;
    for (const Instruction& instruction : program(built, stage).instructions) {
        const bool communicates = instruction.kind == InstructionKind::Collective ||
                                  instruction.kind == InstructionKind::Send ||
                                  instruction.kind == InstructionKind::Recv;
        if (communicates && filter(instruction)) {
            list.push_back(built.programs.communications[CommId(instruction.payload)]);
        }
    }
    return list;
}

std::int64_t count(const std::vector<Communication>& list, CollectiveKind kind) {
    return std::ranges::count_if(list,
                                 [&](const Communication& comm) { return comm.kind == kind; });
}

std::int64_t peak_bytes(const BuiltPrograms& built, std::int64_t stage, MemoryCategory category,
                        const std::function<bool(const std::string&)>& filter, Look look) {
    const Program& of = program(built, stage);
    using PassLabel = std::tuple<std::int32_t, std::int16_t, bool>;
    PassLabel pass{-1, 0, false};
    std::int64_t alive = 0;
    std::int64_t peak = 0;
    for (const Instruction& instruction : of.instructions) {
        const PassLabel now{instruction.microbatch, instruction.chunk,
                            instruction.work == Work::Forward};
        if (instruction.stream == StreamKind::Compute && now != std::exchange(pass, now)) {
            peak = std::max(peak, alive);
        }
        const bool allocates = instruction.kind == InstructionKind::Allocate;
        if (!allocates && instruction.kind != InstructionKind::Free) {
            continue;
        }
        for (const TensorId tensor : of.tensor_lists[instruction.payload]) {
            const TensorRow& row = of.tensors[tensor];
            if (row.category == category && filter(built.programs.names[row.name])) {
                alive += (allocates ? 1 : -1) * row.bytes;
            }
        }
        peak = look == Look::Always ? std::max(peak, alive) : peak;
    }
    return peak;
}

double total_flop(const BuiltPrograms& built, const Plan& plan) {
    double flop = 0.0;
    for (const Program& of : built.programs.programs) {
        for (const Instruction& instruction : of.instructions) {
            if (instruction.kind == InstructionKind::Kernel) {
                flop += built.costs[CostId(instruction.payload)].flop.si();
            }
        }
    }
    return flop * static_cast<double>(plan.tensor * plan.data);
}

}  // namespace orrery::toy
