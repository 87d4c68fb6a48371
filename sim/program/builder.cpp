// SPDX-License-Identifier: Apache-2.0
#include "program/builder.hpp"

#include "base/assert.hpp"

#include <algorithm>
#include <utility>

namespace orrery {

CommId ProgramSetBuilder::communication(const Communication& communication) {
    const auto [place, is_new] = communication_ids_.try_emplace(communication);
    if (is_new) {
        place->second = set_.communications.push_back(communication);
    }
    return place->second;
}

NameId ProgramSetBuilder::name(std::string_view text) {
    const auto found = name_ids_.find(text);
    if (found != name_ids_.end()) {
        return found->second;
    }
    const NameId id = set_.names.push_back(std::string(text));
    name_ids_.emplace(std::string(text), id);
    return id;
}

ProgramSet ProgramSetBuilder::take() {
    communication_ids_.clear();
    name_ids_.clear();
    return std::exchange(set_, ProgramSet{});
}

ProgramBuilder::ProgramBuilder(ProgramSetBuilder& shared, std::int64_t stage) : shared_(&shared) {
    program_.stage = stage;
}

InstructionId ProgramBuilder::append(Instruction instruction,
                                     std::span<const InstructionId> waits) {
    instruction.microbatch = label_.microbatch;
    instruction.layer = label_.layer;
    instruction.chunk = label_.chunk;
    instruction.first_wait = static_cast<std::uint32_t>(program_.waits.size());
    const InstructionId id(program_.instructions.size());
    for (const InstructionId wait : waits) {
        ORRERY_ASSERT(wait < id, "an instruction can only wait for what was issued before it");
        const bool is_ordered = instruction.kind != InstructionKind::HostWait &&
                                program_.instructions[wait.value()].stream == instruction.stream;
        const auto first = program_.waits.begin() + instruction.first_wait;
        if (!is_ordered && std::find(first, program_.waits.end(), wait) == program_.waits.end()) {
            program_.waits.push_back(wait);
        }
    }
    instruction.num_waits =
        static_cast<std::uint32_t>(program_.waits.size()) - instruction.first_wait;
    program_.instructions.push_back(instruction);
    return id;
}

InstructionId ProgramBuilder::kernel(CostId cost, NameId name,
                                     std::span<const InstructionId> waits) {
    return append({.kind = InstructionKind::Kernel,
                   .stream = StreamKind::Compute,
                   .work = label_.work,
                   .launch = LaunchClass::Kernel,
                   .payload = cost.value(),
                   .name = name},
                  waits);
}

InstructionId ProgramBuilder::collective(StreamKind stream, CommId comm,
                                         std::span<const InstructionId> waits) {
    return append({.kind = InstructionKind::Collective,
                   .stream = stream,
                   .work = Work::Communication,
                   .launch = LaunchClass::Collective,
                   .payload = comm.value()},
                  waits);
}

InstructionId ProgramBuilder::send(StreamKind stream, CommId comm, std::uint32_t tag,
                                   std::span<const InstructionId> waits) {
    return append({.kind = InstructionKind::Send,
                   .stream = stream,
                   .work = Work::Communication,
                   .launch = LaunchClass::PointToPoint,
                   .payload = comm.value(),
                   .tag = tag},
                  waits);
}

InstructionId ProgramBuilder::recv(StreamKind stream, CommId comm, std::uint32_t tag,
                                   std::span<const InstructionId> waits) {
    return append({.kind = InstructionKind::Recv,
                   .stream = stream,
                   .work = Work::Communication,
                   .launch = LaunchClass::PointToPoint,
                   .payload = comm.value(),
                   .tag = tag},
                  waits);
}

InstructionId ProgramBuilder::allocate(StreamKind stream, std::span<const TensorId> tensors,
                                       std::span<const InstructionId> waits) {
    return append({.kind = InstructionKind::Allocate,
                   .stream = stream,
                   .work = label_.work,
                   .launch = LaunchClass::Free,
                   .payload = list(tensors)},
                  waits);
}

InstructionId ProgramBuilder::free(StreamKind stream, std::span<const TensorId> tensors,
                                   std::span<const InstructionId> waits) {
    return append({.kind = InstructionKind::Free,
                   .stream = stream,
                   .work = label_.work,
                   .launch = LaunchClass::Free,
                   .payload = list(tensors)},
                  waits);
}

InstructionId ProgramBuilder::host_wait(std::span<const InstructionId> waits) {
    return append({.kind = InstructionKind::HostWait,
                   .stream = StreamKind::Compute,
                   .work = label_.work,
                   .launch = LaunchClass::Free},
                  waits);
}

TensorId ProgramBuilder::tensor(std::string_view name, MemoryCategory category,
                                std::int64_t bytes) {
    ORRERY_ASSERT(bytes >= 0, "a tensor has no negative size");
    const TensorRow row{.name = shared_->name(name), .category = category, .bytes = bytes};
    const auto [place, is_new] = tensor_ids_.try_emplace(row);
    if (is_new) {
        place->second = program_.tensors.push_back(row);
    }
    return place->second;
}

std::uint32_t ProgramBuilder::list(std::span<const TensorId> tensors) {
    std::vector<TensorId> key(tensors.begin(), tensors.end());
    const auto [place, is_new] =
        list_ids_.try_emplace(key, static_cast<std::uint32_t>(program_.tensor_lists.size()));
    if (is_new) {
        program_.tensor_lists.push_back(std::move(key));
    }
    return place->second;
}

}  // namespace orrery
