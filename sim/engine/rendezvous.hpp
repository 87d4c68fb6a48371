// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/ids.hpp"
#include "engine/folding.hpp"
#include "network/network.hpp"
#include "program/program.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace orrery {

/// One end of a transfer.
struct Participant {
    ClassId rank_class;
    StreamKind stream = StreamKind::Compute;
};

/// A communication all of whose partners have arrived.
struct Meeting {
    CommId comm;
    NetworkRequest request;
    std::optional<GroupId>
        group;           ///< of a collective: every class of it takes part, on `first.stream`
    Participant first;   ///< of a message: the sender
    Participant second;  ///< of a message: the receiver
};

/// Where ranks wait for their partners. A collective meets when every class of the group has
/// arrived on the same stream; a Send and a Recv meet when both are there with equal ends and tags.
/// Streams are in order, so a group has at most one collective forming on a stream.
class Rendezvous {
  public:
    Rendezvous(const ProgramSet& set, const FoldedRanks& ranks);

    /// The class arrives at its Collective, Send or Recv. Returns the meeting if it was the last to
    /// come.
    std::optional<Meeting> arrive(ClassId rank_class, const Instruction& instruction);

    /// Who has not come yet to what `rank_class` waits for at `instruction`: for the deadlock
    /// report.
    [[nodiscard]] std::string missing(ClassId rank_class, const Instruction& instruction) const;

  private:
    struct Forming {
        std::int64_t arrived = 0;
        std::vector<ClassId> here;  ///< only kept for groups of several classes
    };

    /// A Send or Recv whose partner is not there yet.
    struct Lone {
        ClassId self;
        ClassId peer;
        std::uint32_t tag = 0;
        StreamKind stream = StreamKind::ForwardSend;
        bool is_send = true;
    };

    std::optional<Meeting> arrive_collective(ClassId rank_class, const Instruction& instruction);
    std::optional<Meeting> arrive_message(ClassId rank_class, const Instruction& instruction);
    [[nodiscard]] GroupId group_of(ClassId rank_class, const Instruction& instruction) const;
    [[nodiscard]] Forming& forming(GroupId group, StreamKind stream);

    const ProgramSet* set_;
    const FoldedRanks* ranks_;
    std::vector<Forming> forming_;         ///< [group · kNumStreams + stream]
    std::vector<std::vector<Lone>> lone_;  ///< by the class that is waited for
};

}  // namespace orrery
