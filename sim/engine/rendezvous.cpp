// SPDX-License-Identifier: Apache-2.0
#include "engine/rendezvous.hpp"

#include "base/assert.hpp"

#include <algorithm>
#include <string>

namespace orrery {
namespace {

NetworkOp network_op(CollectiveKind kind) {
    switch (kind) {
        case CollectiveKind::AllReduce:
            return NetworkOp::AllReduce;
        case CollectiveKind::AllGather:
            return NetworkOp::AllGather;
        case CollectiveKind::ReduceScatter:
            return NetworkOp::ReduceScatter;
        case CollectiveKind::Broadcast:
            return NetworkOp::Broadcast;
        case CollectiveKind::AllToAll:
            return NetworkOp::AllToAll;
        case CollectiveKind::SendRecv:
            break;
    }
    return NetworkOp::SendRecv;
}

GroupPlacement place_pair(LinkKind link) {
    switch (link) {
        case LinkKind::Local:
            return {
                .size = 1, .domains = 1, .nodes = 1, .most_per_domain = 1, .least_per_domain = 1};
        case LinkKind::Nvlink:
        case LinkKind::Pcie:
            return {
                .size = 2, .domains = 1, .nodes = 1, .most_per_domain = 2, .least_per_domain = 2};
        case LinkKind::Nic:
            break;
    }
    return {.size = 2, .domains = 2, .nodes = 2, .most_per_domain = 1, .least_per_domain = 1};
}

std::string describe(const FoldedRanks& ranks, ClassId rank_class, const ProgramSet& set) {
    const RankClass& entry = ranks.classes[rank_class];
    return "rank " + std::to_string(entry.representative.value()) + " (stage " +
           std::to_string(set.programs[entry.program].stage) + ")";
}

}  // namespace

Rendezvous::Rendezvous(const ProgramSet& set, const FoldedRanks& ranks)
    : set_(&set),
      ranks_(&ranks),
      forming_(ranks.groups.size() * kNumStreams),
      lone_(ranks.classes.size()) {}

GroupId Rendezvous::group_of(ClassId rank_class, const Instruction& instruction) const {
    const Communication& comm = set_->communications[CommId(instruction.payload)];
    return ranks_->group_of_class[rank_class.value()][static_cast<std::size_t>(comm.group)];
}

Rendezvous::Forming& Rendezvous::forming(GroupId group, StreamKind stream) {
    return forming_[group.value() * kNumStreams + static_cast<std::size_t>(stream)];
}

std::optional<Meeting> Rendezvous::arrive(ClassId rank_class, const Instruction& instruction) {
    return instruction.kind == InstructionKind::Collective
               ? arrive_collective(rank_class, instruction)
               : arrive_message(rank_class, instruction);
}

std::optional<Meeting> Rendezvous::arrive_collective(ClassId rank_class,
                                                     const Instruction& instruction) {
    const GroupId id = group_of(rank_class, instruction);
    const GroupClass& group = ranks_->groups[id];
    if (group.classes.size() > 1) {
        Forming& here = forming(id, instruction.stream);
        here.here.push_back(rank_class);
        if (++here.arrived < static_cast<std::int64_t>(group.classes.size())) {
            return std::nullopt;
        }
        here.arrived = 0;
        here.here.clear();
    }
    const CommId comm_id(instruction.payload);
    const Communication& comm = set_->communications[comm_id];
    return Meeting{.comm = comm_id,
                   .request = {.op = network_op(comm.kind),
                               .bytes = comm.bytes,
                               .placement = group.placement,
                               .multiplicity = group.count},
                   .group = id,
                   .first = {rank_class, instruction.stream},
                   .second = {}};
}

std::optional<Meeting> Rendezvous::arrive_message(ClassId rank_class,
                                                  const Instruction& instruction) {
    const CommId comm_id(instruction.payload);
    const Communication& comm = set_->communications[comm_id];
    const auto peer_stage = static_cast<std::size_t>(comm.peer_stage);
    const ClassId peer = ranks_->peers[rank_class.value()][peer_stage];
    const bool is_send = instruction.kind == InstructionKind::Send;
    std::vector<Lone>& waiting = lone_[rank_class.value()];
    const auto partner = std::find_if(waiting.begin(), waiting.end(), [&](const Lone& lone) {
        return lone.self == peer && lone.tag == instruction.tag && lone.is_send != is_send;
    });
    if (partner == waiting.end()) {
        lone_[peer.value()].push_back({.self = rank_class,
                                       .peer = peer,
                                       .tag = instruction.tag,
                                       .stream = instruction.stream,
                                       .is_send = is_send});
        return std::nullopt;
    }
    const Participant self{rank_class, instruction.stream};
    const Participant other{peer, partner->stream};
    waiting.erase(partner);
    return Meeting{
        .comm = comm_id,
        .request = {.op = NetworkOp::SendRecv,
                    .bytes = comm.bytes,
                    .placement = place_pair(ranks_->peer_links[rank_class.value()][peer_stage]),
                    .multiplicity = ranks_->classes[rank_class].count},
        .group = std::nullopt,
        .first = is_send ? self : other,
        .second = is_send ? other : self};
}

std::string Rendezvous::missing(ClassId rank_class, const Instruction& instruction) const {
    const Communication& comm = set_->communications[CommId(instruction.payload)];
    if (instruction.kind != InstructionKind::Collective) {
        const ClassId peer =
            ranks_->peers[rank_class.value()][static_cast<std::size_t>(comm.peer_stage)];
        return (instruction.kind == InstructionKind::Send ? "a receive of " : "a send of ") +
               describe(*ranks_, peer, *set_);
    }
    const GroupId id = group_of(rank_class, instruction);
    const Forming& here =
        forming_[id.value() * kNumStreams + static_cast<std::size_t>(instruction.stream)];
    for (const ClassId member : ranks_->groups[id].classes) {
        if (std::find(here.here.begin(), here.here.end(), member) == here.here.end()) {
            return describe(*ranks_, member, *set_) + " to join";
        }
    }
    return "its partners";
}

}  // namespace orrery
