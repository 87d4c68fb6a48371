// SPDX-License-Identifier: Apache-2.0
// Closed forms with free messages and equal stages (p ranks, m micro-batches, v chunks, group N):
//   makespan = m·v·(F+B+W) + (p−1)(F+B+W), costs of one chunk;
//   peak activations: GPipe m, 1F1B min(p−r, m), interleaved min(2(p−1−r)+(v−1)N+1, m·v).
#include "strategies/schedule/order_timing.hpp"
#include "tests/catch.hpp"

#include <algorithm>

namespace orrery {
namespace {

const std::vector<PassCosts> kCosts{
    {1, 1, 1, 0}, {10, 11, 9, 0}, {10, 14, 6, 0}, {1, 5, 1, 0}, {7, 2, 4, 0}};

OrderTiming timed(const PipelineOrder& order, const PassCosts& costs) {
    const auto timing = time_order(order, costs);
    REQUIRE(timing);
    return *timing;
}

double closed_makespan(std::int64_t p, std::int64_t m, std::int64_t v, const PassCosts& costs) {
    return static_cast<double>(m * v + p - 1) *
           (costs.forward + costs.input_gradient + costs.weight_gradient);
}

// A bad value among thousands would drown in CHECKs: each case counts what it compared and what
// differed.
struct Tally {
    int compared = 0;
    int different = 0;

    void add(bool same) {
        ++compared;
        different += same ? 0 : 1;
    }
};

TEST_CASE("GPipe idles (p-1)(F+B+W) and keeps m micro-batches on every rank") {
    Tally tally;
    for (std::int64_t p = 1; p <= 16; ++p) {
        for (const std::int64_t m : {1, 2, 3, 8, 17}) {
            for (const PassCosts& costs : kCosts) {
                const OrderTiming timing = timed(gpipe_order(p, m), costs);
                tally.add(timing.makespan == closed_makespan(p, m, 1, costs));
                tally.add(
                    std::ranges::all_of(timing.peak_activations, [&](auto k) { return k == m; }));
            }
        }
    }
    CHECK(tally.compared == 16 * 5 * 5 * 2);
    CHECK(tally.different == 0);
}

TEST_CASE("1F1B idles (p-1)(F+B+W), also with m < p, and keeps min(p-r, m) micro-batches") {
    Tally tally;
    for (std::int64_t p = 1; p <= 16; ++p) {
        for (const std::int64_t m : {1, 2, 3, 8, 17, 40}) {
            for (const PassCosts& costs : kCosts) {
                const OrderTiming timing = timed(one_f_one_b_order(p, m), costs);
                tally.add(timing.makespan == closed_makespan(p, m, 1, costs));
                for (std::int64_t r = 0; r < p; ++r) {
                    const auto at = static_cast<std::size_t>(r);
                    tally.add(timing.peak_activations[at] == std::min(p - r, m));
                    tally.add(timing.peak_activations_until_b[at] == std::min(p - r, m));
                }
            }
        }
    }
    CHECK(tally.compared > 8000);
    CHECK(tally.different == 0);
}

TEST_CASE(
    "interleaved 1F1B idles (p-1)(F+B+W) of a chunk whatever the group, and keeps "
    "min(2(p-1-r)+(v-1)N+1, mv) chunks") {
    Tally tally;
    for (std::int64_t p = 2; p <= 16; ++p) {
        for (std::int64_t v = 2; v <= 4; ++v) {
            for (const std::int64_t m : {p, p + 1, 2 * p, 2 * p + 1, 3 * p, 4 * p + 2}) {
                for (const std::int64_t group : {p, p + 1, p + 3, m}) {
                    if (group > m || (m % group != 0 && m % group < p)) {
                        continue;
                    }
                    const PipelineOrder order = interleaved_order(p, v, m, group, 0);
                    for (const PassCosts& costs : kCosts) {
                        const OrderTiming timing = timed(order, costs);
                        tally.add(timing.makespan == closed_makespan(p, m, v, costs));
                        for (std::int64_t r = 0; r < p; ++r) {
                            tally.add(timing.peak_activations[static_cast<std::size_t>(r)] ==
                                      std::min(2 * (p - 1 - r) + (v - 1) * group + 1, m * v));
                        }
                    }
                }
            }
        }
    }
    CHECK(tally.compared > 20000);
    CHECK(tally.different == 0);
}

TEST_CASE("an extra warm-up forward costs one chunk of memory and no time") {
    const OrderTiming plain = timed(interleaved_order(4, 2, 8, 4, 0), {});
    const OrderTiming extra = timed(interleaved_order(4, 2, 8, 4, 1), {});
    CHECK(extra.makespan == plain.makespan);
    CHECK(plain.peak_activations == std::vector<std::int64_t>{11, 9, 7, 5});
    CHECK(extra.peak_activations == std::vector<std::int64_t>{12, 10, 8, 6});
}

// The p−r micro-batches in flight on rank r make a loop of (p−r)(F+B+W) + 2(p−1−r)c; rank 0 binds.
TEST_CASE("a message of time c lengthens 1F1B's steady period to F+B+W + 2c(p-1)/p") {
    for (const std::int64_t p : {2, 3, 4, 8}) {
        for (const double c : {0.125, 0.25, 0.5}) {
            const PassCosts costs{1, 1, 1, c};
            const double once = timed(one_f_one_b_order(p, 10 * p), costs).makespan;
            const double twice = timed(one_f_one_b_order(p, 20 * p), costs).makespan;
            const auto more = static_cast<double>(10 * p);
            CHECK((twice - once) / more ==
                  Approx(3.0 + 2.0 * c * static_cast<double>(p - 1) / static_cast<double>(p)));
        }
    }
}

TEST_CASE("1F1B sends 2m(p-1) messages, interleaved 2m(pv-1), one rank none") {
    const auto total = [](const OrderTiming& timing) {
        std::int64_t sum = 0;
        for (const auto& [activations, gradients] : timing.messages) {
            sum += activations + gradients;
        }
        return sum;
    };
    CHECK(total(timed(one_f_one_b_order(4, 8), {})) == 48);
    CHECK(total(timed(interleaved_order(4, 2, 8, 4, 0), {})) == 112);
    CHECK(total(timed(one_f_one_b_order(1, 8), {})) == 0);
}

}  // namespace
}  // namespace orrery
