// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/report/fixture.hpp"

namespace orrery::test {

namespace {

void describe(Job& job) {
    job.model.name = "tiny";
    job.model.layers = 4;
    job.model.hidden = 64;
    job.model.ffn_hidden = 128;
    job.model.heads = 4;
    job.model.kv_heads = 2;
    job.model.head_dim = 16;
    job.model.vocab = 100;
    job.training.sequence_length = 32;
    job.training.global_batch = 8;
    job.training.micro_batch = 2;
    job.plan.tensor = 2;
    job.plan.pipeline = 2;
    job.plan.stage_layers = {3, 1};
    job.cluster.preset = "dgx-h100";
    job.cluster.gpu = "h100-sxm";
    job.cluster.fabric = "ib_ndr_8x400";
    job.cluster.gpus = 4;
}

void add_costs(Job& job) {
    CostRow product;
    product.kernel = GemmKernel{.m = 64, .n = 128, .k = 256};
    product.duration = ms(10);
    product.source = TimeSource::Measured;
    product.flop = Flop(4e12);
    job.costs.push_back(product);
    CostRow norm;
    norm.kernel = MemoryBoundKernel{.op = "rms_norm",
                                    .pass = KernelPass::Forward,
                                    .rows = 64,
                                    .width = 64,
                                    .dtype = Dtype::Bf16,
                                    .read = Bytes(1.0),
                                    .written = Bytes(1.0)};
    norm.duration = ms(5);
    norm.source = TimeSource::Roofline;
    norm.is_memory_bound = true;
    job.costs.push_back(norm);
}

Instruction instruction(InstructionKind kind, StreamKind stream, std::uint32_t payload,
                        NameId name) {
    Instruction made;
    made.kind = kind;
    made.stream = stream;
    made.payload = payload;
    made.name = name;
    made.work = kind == InstructionKind::Kernel ? Work::Forward : Work::Communication;
    return made;
}

enum : std::uint32_t { kQkv, kReduce, kActivations, kGradients, kParameters, kSaved, kContext };

/// Three or four products, a norm, one AllReduce and one message.
Program make_program(std::int64_t stage) {
    Program program;
    program.stage = stage;
    for (std::int64_t i = 0; i < 3 + stage; ++i) {
        program.instructions.push_back(
            instruction(InstructionKind::Kernel, StreamKind::Compute, 0, NameId(kQkv)));
    }
    program.instructions.push_back(
        instruction(InstructionKind::Kernel, StreamKind::Compute, 1, NameId(kQkv)));
    program.instructions.push_back(
        instruction(InstructionKind::Collective, StreamKind::Tensor, 0, NameId(kReduce)));
    program.instructions.push_back(
        stage == 0
            ? instruction(InstructionKind::Send, StreamKind::ForwardSend, 1, NameId(kActivations))
            : instruction(InstructionKind::Recv, StreamKind::ForwardRecv, 2, NameId(kActivations)));
    program.instructions.back().tag = 7;
    program.tensors.push_back({NameId(kContext), MemoryCategory::Framework, kGiB / 2});
    program.tensors.push_back(
        {NameId(kParameters), MemoryCategory::Parameters, (2 + stage) * kGiB});
    program.tensors.push_back({NameId(kSaved), MemoryCategory::Activations, kGiB / 2});
    program.persistent = {TensorId(0U), TensorId(1U)};
    program.tensor_lists = {{TensorId(2U)}};
    return program;
}

void add_programs(Job& job) {
    for (const char* name : {"qkv", "projection reduce", "activations", "gradient \"reduce\"",
                             "parameters", "saved", "cuda context"}) {
        job.programs.names.push_back(name);
    }
    job.programs.communications.push_back({CollectiveKind::AllReduce, Dimension::Tensor,
                                           GroupKind::Tensor, kMiB, 0, NameId(kReduce)});
    job.programs.communications.push_back({CollectiveKind::SendRecv, Dimension::Pipeline,
                                           GroupKind::Pipeline, 4096, 1, NameId(kActivations)});
    job.programs.communications.push_back({CollectiveKind::SendRecv, Dimension::Pipeline,
                                           GroupKind::Pipeline, 4096, 0, NameId(kActivations)});
    job.programs.communications.push_back({CollectiveKind::ReduceScatter, Dimension::Data,
                                           GroupKind::Data, kGiB, 0, NameId(kGradients)});
    job.programs.programs.push_back(make_program(0));
    job.programs.programs.push_back(make_program(1));
    job.programs.program_of_stage = {ProgramId(0U), ProgramId(1U)};
}

ClassRecord make_record(std::int64_t stage, const Program& program) {
    const bool is_first = stage == 0;
    ClassRecord record;
    record.end = ms(100);
    record.split.compute = ms(is_first ? 60 : 70);
    record.split.exposed_communication.at(static_cast<std::size_t>(Dimension::Tensor)) =
        ms(is_first ? 10 : 12);
    record.split.exposed_communication.at(static_cast<std::size_t>(Dimension::Pipeline)) =
        ms(is_first ? 5 : 0);
    record.split.bubble = ms(is_first ? 15 : 8);
    record.split.optimizer = ms(6);
    record.split.host = ms(4);
    record.kernel_ps_by_source = {ms(is_first ? 30 : 40).ps(), 0, ms(5).ps()};
    // Tensor AllReduce, activations sent, activations received, a reduce-scatter over a group of
    // one.
    record.communications.resize(4);
    record.communications[0] = {is_first ? 10 : 14, ms(is_first ? 30 : 50), ms(is_first ? 10 : 12)};
    record.communications[is_first ? 1 : 2] = {4, ms(8), ms(is_first ? 5 : 0)};
    record.communications[3] = {1, ms(0), ms(0)};

    MemoryRecord& memory = record.memory;
    memory.events = {{ms(1), 0, true}, {ms(2), 0, true}, {ms(50), 0, false}, {ms(60), 0, false}};
    memory.peak_bytes = (2 + stage) * kGiB + 3 * kGiB / 2;
    memory.peak_time = ms(2);
    memory.at_peak.at(static_cast<std::size_t>(MemoryCategory::Parameters)) = (2 + stage) * kGiB;
    memory.at_peak.at(static_cast<std::size_t>(MemoryCategory::Activations)) = kGiB;
    memory.at_peak.at(static_cast<std::size_t>(MemoryCategory::Framework)) = kGiB / 2;
    for (std::size_t i = 0; i < program.instructions.size(); ++i) {
        const SimTime start = ms(10.0 * static_cast<double>(i));
        const bool is_kernel = program.instructions[i].kind == InstructionKind::Kernel;
        record.slices.push_back(
            {InstructionId(i), start, is_kernel ? start : start + ms(1), start + ms(9)});
    }
    return record;
}

void add_record(Job& job, bool unfolded) {
    FoldedRanks& ranks = job.record.ranks;
    const GroupPlacement pair{2, 1, 1, 2, 2};
    const GroupPlacement alone{1, 1, 1, 1, 1};
    const std::int64_t per_class = unfolded ? 1 : 2;
    ranks.groups.push_back({GroupKind::Tensor, pair, 2, {}, {}});
    ranks.groups.push_back({GroupKind::Data, alone, 4, {}, {}});
    for (std::int64_t first = 0; first < 4; first += per_class) {
        const std::int64_t stage = first / 2;
        const auto program = static_cast<std::uint32_t>(stage);
        ranks.classes.push_back(
            {ProgramId(program), per_class, RankId(static_cast<std::uint32_t>(first))});
        std::array<GroupId, kNumGroupKinds> groups{};
        groups.fill(GroupId(1U));
        groups.at(static_cast<std::size_t>(GroupKind::Tensor)) = GroupId(0U);
        ranks.group_of_class.push_back(groups);
        const std::size_t other = unfolded ? static_cast<std::size_t>((first + 2) % 4)
                                           : static_cast<std::size_t>(1 - stage);
        ranks.peers.push_back({ClassId(other), ClassId(other)});
        ranks.peer_links.push_back({LinkKind::Nic, LinkKind::Nic});
        job.record.classes.push_back(make_record(stage, job.programs.programs[ProgramId(program)]));
    }
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
        ranks.class_of_rank.push_back(ClassId(unfolded ? rank : rank / 2));
    }
    job.record.step_time = ms(100);
    job.record.steps_simulated = 1;
    job.record.events = unfolded ? 48 : 24;
}

}  // namespace

Job make_job(bool unfolded) {
    Job job;
    describe(job);
    add_costs(job);
    add_programs(job);
    add_record(job, unfolded);
    return job;
}

}  // namespace orrery::test
