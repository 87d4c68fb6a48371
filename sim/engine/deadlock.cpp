// SPDX-License-Identifier: Apache-2.0
#include "engine/deadlock.hpp"

#include <string>

namespace orrery {
namespace {

constexpr std::size_t kMaxLines = 32;

std::string instruction_name(const ProgramSet& set, const Instruction& instruction) {
    std::string text;
    switch (instruction.kind) {
        case InstructionKind::Kernel:
            text = "kernel " + set.names[instruction.name];
            break;
        case InstructionKind::Collective: {
            const Communication& comm = set.communications[CommId(instruction.payload)];
            text = std::string(to_string(comm.kind)) + " " + set.names[comm.name];
            break;
        }
        case InstructionKind::Send:
            text = "send to stage " +
                   std::to_string(set.communications[CommId(instruction.payload)].peer_stage);
            break;
        case InstructionKind::Recv:
            text = "receive from stage " +
                   std::to_string(set.communications[CommId(instruction.payload)].peer_stage);
            break;
        case InstructionKind::Allocate:
            text = "allocation";
            break;
        case InstructionKind::Free:
            text = "free";
            break;
        case InstructionKind::HostWait:
            text = "host wait";
            break;
    }
    if (instruction.microbatch >= 0) {
        text += ", micro-batch " + std::to_string(instruction.microbatch);
    }
    return text;
}

}  // namespace

Deadlock explain_deadlock(const ProgramSet& set, const FoldedRanks& folded,
                          const std::vector<RankState>& ranks, const Rendezvous& rendezvous,
                          SimTime now) {
    Deadlock deadlock{.time = now, .waits = {}};
    for (std::size_t c = 0; c < ranks.size(); ++c) {
        const RankState& rank = ranks[c];
        const RankClass& entry = folded.classes[ClassId(c)];
        for (std::size_t s = 0; s < kNumStreams; ++s) {
            const StreamState& state = rank.streams[s];
            if (state.done >= rank.layout->order[s].size()) {
                continue;
            }
            if (deadlock.waits.size() == kMaxLines) {
                deadlock.waits.emplace_back("…");
                return deadlock;
            }
            const Instruction& head = rank.instruction(rank.layout->order[s][state.done]);
            std::string line = "rank " + std::to_string(entry.representative.value()) + " (stage " +
                               std::to_string(rank.layout->program->stage) + "), " +
                               to_string(static_cast<StreamKind>(s)) + ": " +
                               instruction_name(set, head) + " waits for ";
            if (state.is_busy) {
                line += rendezvous.missing(ClassId(c), head);
            } else if (state.waits_for_stream) {
                const auto& order = rank.layout->order[state.blocked_on.stream];
                line += instruction_name(set, rank.instruction(order[state.blocked_on.position])) +
                        " on its own " +
                        to_string(static_cast<StreamKind>(state.blocked_on.stream)) + " stream";
            } else {
                line += "its host thread";
            }
            deadlock.waits.push_back(std::move(line));
        }
    }
    return deadlock;
}

}  // namespace orrery
