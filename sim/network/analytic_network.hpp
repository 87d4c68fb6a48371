// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "network/network.hpp"

#include <map>
#include <queue>
#include <utility>
#include <vector>

namespace orrery {

/// Latency + bytes / bandwidth, every operation alone on the machine. A group within one NVLink
/// domain uses the NVLink fits; a wider one its NIC fits with as many NICs as its members on the
/// emptiest domain can drive, never faster than NVLink.
///   t = base + step · steps + wire · bytes / min(B_nvlink, nics · B_nic)          (CollectiveFit)
/// For a wide group, steps that stay inside a domain cost the NVLink step and the others the NIC
/// step. A wide AllReduce takes the faster of ring and double binary tree, as NCCL does.
class AnalyticNetwork final : public Network {
  public:
    explicit AnalyticNetwork(const Cluster& cluster);

    Ticket start(SimTime now, const NetworkRequest& request) override;
    [[nodiscard]] std::optional<SimTime> next_completion() const override;
    void complete(SimTime now, std::vector<Ticket>& done) override;
    [[nodiscard]] std::int64_t sms(const NetworkRequest& request) const override;
    [[nodiscard]] SimTime time_alone(const NetworkRequest& request) override;

  private:
    struct InFlight {
        SimTime end;
        std::uint64_t sequence = 0;
        Ticket ticket = 0;

        friend bool operator>(const InFlight& a, const InFlight& b) {
            return a.end != b.end ? a.end > b.end : a.sequence > b.sequence;
        }
    };

    Cluster cluster_;
    std::map<NetworkRequest, SimTime> times_;
    std::priority_queue<InFlight, std::vector<InFlight>, std::greater<>> in_flight_;
    std::vector<Ticket> free_tickets_;
    Ticket next_ticket_ = 0;
    std::uint64_t sequence_ = 0;
};

/// The formula above. Exposed for tests and for `orrery collective`.
[[nodiscard]] Seconds analytic_time(const Cluster& cluster, const NetworkRequest& request);

}  // namespace orrery
