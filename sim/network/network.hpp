// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/sim_time.hpp"
#include "cluster/cluster.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace orrery {

/// An operation that the network is asked to carry: a collective over a placed group, or a message.
/// Network's own words, so that it depends on nothing but the cluster.
enum class NetworkOp : std::uint8_t {
    AllReduce,
    AllGather,
    ReduceScatter,
    Broadcast,
    AllToAll,
    SendRecv
};

struct NetworkRequest {
    NetworkOp op = NetworkOp::AllReduce;
    std::int64_t bytes = 0;  ///< nccl-tests' size
    GroupPlacement placement;
    std::int64_t multiplicity = 1;  ///< how many alike groups do the same at this instant

    friend auto operator<=>(const NetworkRequest&, const NetworkRequest&) = default;
};

/// Carries operations and says when each is done. The engine calls `start` at the current instant,
/// asks for the next completion, and advances. A network that shares bandwidth re-rates what is in
/// flight inside.
class Network {
  public:
    using Ticket = std::uint32_t;

    Network() = default;
    virtual ~Network() = default;
    Network(const Network&) = delete;
    Network& operator=(const Network&) = delete;

    /// Begins `request` at `now`. Requires: now is not before any earlier call's now.
    virtual Ticket start(SimTime now, const NetworkRequest& request) = 0;

    /// When the next operation in flight ends, if nothing else starts.
    [[nodiscard]] virtual std::optional<SimTime> next_completion() const = 0;

    /// Appends the tickets of everything that ends at `now`, in order of start. A ticket may be
    /// reused later.
    virtual void complete(SimTime now, std::vector<Ticket>& done) = 0;

    /// SMs that the request holds on every member's GPU while it runs.
    [[nodiscard]] virtual std::int64_t sms(const NetworkRequest& request) const = 0;

    /// Time of the request alone on the machine: for the ledger.
    [[nodiscard]] virtual SimTime time_alone(const NetworkRequest& request) = 0;
};

}  // namespace orrery
