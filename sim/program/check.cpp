// SPDX-License-Identifier: Apache-2.0
#include "program/check.hpp"

#include <cstddef>
#include <map>
#include <tuple>
#include <utility>

namespace orrery {
namespace {

using Faults = std::vector<std::string>;

std::string place(const Program& program, std::size_t index) {
    return "stage " + std::to_string(program.stage) + ", instruction " + std::to_string(index);
}

void check_waits(const Program& program, Faults& faults) {
    for (std::size_t i = 0; i < program.instructions.size(); ++i) {
        const Instruction& instruction = program.instructions[i];
        const std::size_t end = std::size_t{instruction.first_wait} + instruction.num_waits;
        if (end > program.waits.size()) {
            faults.push_back(place(program, i) + ": its waits lie outside the table of waits");
            continue;
        }
        for (std::size_t w = instruction.first_wait; w < end; ++w) {
            if (program.waits[w].value() >= i) {
                faults.push_back(place(program, i) + ": waits for instruction " +
                                 std::to_string(program.waits[w].value()) + ", issued after it");
            }
        }
    }
}

void check_memory(const ProgramSet& set, const Program& program, Faults& faults) {
    std::vector<std::int64_t> alive(program.tensors.size(), 0);
    for (std::size_t i = 0; i < program.instructions.size(); ++i) {
        const Instruction& instruction = program.instructions[i];
        const bool is_allocation = instruction.kind == InstructionKind::Allocate;
        if (!is_allocation && instruction.kind != InstructionKind::Free) {
            continue;
        }
        for (const TensorId tensor : program.tensor_lists[instruction.payload]) {
            std::int64_t& count = alive[tensor.value()];
            count += is_allocation ? 1 : -1;
            if (count < 0) {
                faults.push_back(place(program, i) + ": frees '" +
                                 set.names[program.tensors[tensor].name] +
                                 "', of which none is alive");
                count = 0;
            }
        }
    }
    for (std::size_t t = 0; t < alive.size(); ++t) {
        if (alive[t] != 0) {
            faults.push_back("stage " + std::to_string(program.stage) + ": " +
                             std::to_string(alive[t]) + " of '" +
                             set.names[program.tensors[TensorId(t)].name] +
                             "' are allocated in the step and never freed");
        }
    }
}

/// (from stage, to stage, tag) → (sends, receives, bytes sent, bytes received)
struct Exchange {
    std::int64_t sends = 0;
    std::int64_t receives = 0;
    std::int64_t bytes_sent = 0;
    std::int64_t bytes_received = 0;
};

void check_messages(const ProgramSet& set, Faults& faults) {
    std::map<std::tuple<std::int64_t, std::int64_t, std::uint32_t>, Exchange> exchanges;
    for (std::size_t s = 0; s < set.program_of_stage.size(); ++s) {
        const Program& program = set.programs[set.program_of_stage[s]];
        const auto here = static_cast<std::int64_t>(s);
        for (const Instruction& instruction : program.instructions) {
            if (instruction.kind == InstructionKind::Send) {
                const Communication& comm = set.communications[CommId(instruction.payload)];
                Exchange& exchange = exchanges[{here, comm.peer_stage, instruction.tag}];
                ++exchange.sends;
                exchange.bytes_sent += comm.bytes;
            } else if (instruction.kind == InstructionKind::Recv) {
                const Communication& comm = set.communications[CommId(instruction.payload)];
                Exchange& exchange = exchanges[{comm.peer_stage, here, instruction.tag}];
                ++exchange.receives;
                exchange.bytes_received += comm.bytes;
            }
        }
    }
    for (const auto& [key, exchange] : exchanges) {
        const auto& [from, to, tag] = key;
        const std::string name = "message " + std::to_string(tag) + " from stage " +
                                 std::to_string(from) + " to stage " + std::to_string(to);
        if (exchange.sends != 1 || exchange.receives != 1) {
            faults.push_back(name + ": " + std::to_string(exchange.sends) + " sends and " +
                             std::to_string(exchange.receives) + " receives");
        } else if (exchange.bytes_sent != exchange.bytes_received) {
            faults.push_back(name + ": " + std::to_string(exchange.bytes_sent) + " bytes sent, " +
                             std::to_string(exchange.bytes_received) + " received");
        }
    }
}

using CollectiveList = std::vector<std::pair<CollectiveKind, std::int64_t>>;

CollectiveList collectives_of(const ProgramSet& set, const Program& program, GroupKind kind) {
    CollectiveList list;
    for (const Instruction& instruction : program.instructions) {
        if (instruction.kind != InstructionKind::Collective) {
            continue;
        }
        const Communication& comm = set.communications[CommId(instruction.payload)];
        if (comm.group == kind) {
            list.emplace_back(comm.kind, comm.bytes);
        }
    }
    return list;
}

/// Groups that span stages: every member stage must call the same collectives in the same order.
void check_collectives(const ProgramSet& set, Faults& faults) {
    const std::size_t stages = set.program_of_stage.size();
    for (const GroupKind kind : {GroupKind::Pipeline, GroupKind::Embedding, GroupKind::World}) {
        const CollectiveList first =
            collectives_of(set, set.programs[set.program_of_stage.front()], kind);
        for (std::size_t s = 1; s < stages; ++s) {
            const bool is_member = kind != GroupKind::Embedding || s + 1 == stages;
            const CollectiveList here =
                collectives_of(set, set.programs[set.program_of_stage[s]], kind);
            if (is_member ? here != first : !here.empty()) {
                faults.push_back("stage " + std::to_string(s) + " calls " +
                                 std::to_string(here.size()) +
                                 " collectives of a group that spans stages, which are not the " +
                                 std::to_string(first.size()) + " of stage 0 in the same order");
            }
        }
    }
}

}  // namespace

std::vector<std::string> check_programs(const ProgramSet& set) {
    Faults faults;
    for (const Program& program : set.programs) {
        check_waits(program, faults);
        check_memory(set, program, faults);
    }
    check_messages(set, faults);
    check_collectives(set, faults);
    return faults;
}

}  // namespace orrery
