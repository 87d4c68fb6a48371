// SPDX-License-Identifier: Apache-2.0
#include "network/analytic_network.hpp"

#include "tests/catch.hpp"

#include <vector>

using namespace orrery;            // NOLINT(google-build-using-namespace)
using namespace orrery::literals;  // NOLINT(google-build-using-namespace)

namespace {

CollectiveFit fit(Seconds base, Seconds step, BytesPerSecond bandwidth) {
    return {.base = base, .step = step, .bus_bandwidth = bandwidth, .sigma = 0.0};
}

LinkFits all_alike(const CollectiveFit& one) {
    return {.all_reduce = one,
            .all_gather = one,
            .reduce_scatter = one,
            .all_to_all = one,
            .broadcast = one,
            .send_recv = one,
            .sms = 16};
}

/// NVLink: 4 us + 1 us a step, 400 GB/s; NIC: 10 us + 5 us a step, 50 GB/s each.
Cluster cluster() {
    Cluster made;
    made.gpus = 64;
    made.nvlink = all_alike(fit(4.0_us, 1.0_us, 400.0_GBps));
    made.nic = all_alike(fit(10.0_us, 5.0_us, 50.0_GBps));
    return made;
}

GroupPlacement inside(std::int64_t size) {
    return {
        .size = size, .domains = 1, .nodes = 1, .most_per_domain = size, .least_per_domain = size};
}

GroupPlacement across(std::int64_t nodes, std::int64_t per_node) {
    return {.size = nodes * per_node,
            .domains = nodes,
            .nodes = nodes,
            .most_per_domain = per_node,
            .least_per_domain = per_node};
}

double us(const NetworkRequest& request) {
    return analytic_time(cluster(), request).si() * 1e6;
}

}  // namespace

TEST_CASE("an all-reduce of 8 GPUs moves 2(n-1)/n of its size in 2(n-1) steps") {
    // 4 + 14·1 + 1.75 · 400 MB / 400 GB/s = 18 + 1750 us
    CHECK(us({NetworkOp::AllReduce, 400'000'000, inside(8)}) == Approx(1768.0));
}

TEST_CASE("all-gather and reduce-scatter each move half of an all-reduce") {
    CHECK(us({NetworkOp::AllGather, 400'000'000, inside(8)}) == Approx(4 + 7 + 875.0));
    CHECK(us({NetworkOp::ReduceScatter, 400'000'000, inside(8)}) == Approx(4 + 7 + 875.0));
}

TEST_CASE("one GPU on each of 4 nodes drives one NIC each") {
    // 10 + 3·5 + 0.75 · 100 MB / 50 GB/s = 25 + 1500 us
    CHECK(us({NetworkOp::AllGather, 100'000'000, across(4, 1)}) == Approx(1525.0));
}

TEST_CASE("eight GPUs a node drive eight NICs, up to the speed of NVLink") {
    // 32 ranks: 31 steps, 3 between nodes: 10 + 3·5 + 28·1; 8 NICs = 400 GB/s
    CHECK(us({NetworkOp::AllGather, 320'000'000, across(4, 8)}) == Approx(10 + 15 + 28 + 775.0));
}

TEST_CASE("of an all-to-all only what leaves the node crosses the NIC") {
    // 16 ranks on 2 nodes: half of 100 MB through the rank's own 50 GB/s; 8 of 15 steps leave.
    CHECK(us({NetworkOp::AllToAll, 100'000'000, across(2, 8)}) == Approx(10 + 40 + 7 + 1000.0));
}

TEST_CASE("a message takes one step and the whole of one NIC") {
    CHECK(us({NetworkOp::SendRecv, 50'000'000, across(2, 1)}) == Approx(10 + 5 + 1000.0));
}

TEST_CASE("a small all-reduce over many nodes takes a tree's logarithmic number of steps") {
    // 1,024 nodes: the ring would take 10 + 2046·5 us; the tree 10 + 2·10·5 us.
    CHECK(us({NetworkOp::AllReduce, 4, across(1024, 1)}) == Approx(110.0).epsilon(1e-4));
    // A large one keeps to the ring: 1.5 GB at 50 GB/s, where the tree moves 2 GB at 46 GB/s.
    CHECK(us({NetworkOp::AllReduce, 1'000'000'000, across(4, 1)}) == Approx(10 + 30 + 30000.0));
}

TEST_CASE("a group over two racks of 72 GPUs drives the NICs of all their hosts") {
    Cluster racks = cluster();
    racks.gpus_per_node = 4;
    racks.nics_per_node = 4;
    racks.gpus_per_domain = 72;
    // 2 domains of 4: 4 NICs = 200 GB/s; 7 steps, 1 between racks.
    const double time =
        analytic_time(racks, {NetworkOp::AllGather, 800'000'000, across(2, 4)}).si() * 1e6;
    CHECK(time == Approx(10 + 5 + 6 + 3500.0));
    // 2 domains of 16, on 4 hosts each: 16 NICs, but no more than NVLink's 400 GB/s.
    const double wide =
        analytic_time(racks, {NetworkOp::AllGather, 320'000'000, across(2, 16)}).si() * 1e6;
    CHECK(wide == Approx(10 + 5 + 30 + 775.0));
}

TEST_CASE("a group of one takes no time") {
    CHECK(us({NetworkOp::AllReduce, 1'000'000, inside(1)}) == 0.0);
}

TEST_CASE("operations in flight end in order of time, then of start") {
    AnalyticNetwork network(cluster());
    const auto slow = network.start(SimTime(), {NetworkOp::AllReduce, 400'000'000, inside(8)});
    const auto first = network.start(SimTime(), {NetworkOp::AllGather, 400'000'000, inside(8)});
    const auto second = network.start(SimTime(), {NetworkOp::AllGather, 400'000'000, inside(8)});
    std::vector<Network::Ticket> done;
    REQUIRE(network.next_completion().has_value());
    network.complete(*network.next_completion(), done);
    CHECK(done == std::vector<Network::Ticket>{first, second});
    done.clear();
    network.complete(*network.next_completion(), done);
    CHECK(done == std::vector<Network::Ticket>{slow});
    CHECK_FALSE(network.next_completion().has_value());
}
