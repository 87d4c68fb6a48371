// SPDX-License-Identifier: Apache-2.0
#include "report/result.hpp"
#include "tests/catch.hpp"
#include "tests/unit/report/fixture.hpp"

#include <nlohmann/json.hpp>

namespace orrery {
namespace {

using Json = nlohmann::json;
using test::kGiB;
using test::make_job;
using test::ms;

constexpr double kExact = 1e-15;

TEST_CASE("summarize: times are means over ranks and sum to the step") {
    const Result result = make_job(false).summarize();
    CHECK(result.step_time.si() == Approx(0.1).epsilon(kExact));
    CHECK(result.compute.si() == Approx(0.065).epsilon(kExact));   // (60 + 70) / 2 ms
    CHECK(result.exposed.si() == Approx(0.0135).epsilon(kExact));  // (10 + 5 + 12 + 0) / 2
    CHECK(result.bubble.si() == Approx(0.0115).epsilon(kExact));   // (15 + 8) / 2
    CHECK(result.optimizer.si() == Approx(0.006).epsilon(kExact));
    CHECK(result.host.si() == Approx(0.004).epsilon(kExact));
    CHECK(result.bubble_fraction == Approx(0.115).epsilon(kExact));
    const Seconds sum =
        result.compute + result.exposed + result.bubble + result.optimizer + result.host;
    CHECK(sum.si() == Approx(result.step_time.si()).epsilon(kExact));
}

TEST_CASE("summarize: a class of three ranks weighs three times one rank") {
    test::Job job = make_job(false);
    job.record.ranks.classes[ClassId(0U)].count = 3;
    job.record.ranks.classes[ClassId(1U)].count = 1;
    const Result result = job.summarize();
    CHECK(result.compute.si() == Approx(0.0625).epsilon(kExact));  // (3·60 + 70) / 4 ms
}

TEST_CASE("summarize: overlap is what communication does not expose") {
    // Σ exposed = 2·(10 + 5 + 12 + 0), Σ time = 2·(30 + 8 + 50 + 8) ms
    CHECK(make_job(false).summarize().overlap_fraction ==
          Approx(1.0 - 27.0 / 96.0).epsilon(kExact));
    test::Job silent = make_job(false);
    for (ClassRecord& record : silent.record.classes) {
        record.communications.clear();
    }
    CHECK(silent.summarize().overlap_fraction == 1.0);
}

TEST_CASE("summarize: tokens and model FLOP follow from the step, by Megatron's formula") {
    const Result result = make_job(false).summarize();
    CHECK(result.tokens_per_s == Approx(8.0 * 32.0 / 0.1));
    CHECK(result.tokens_per_s_per_gpu == Approx(640.0));
    // T = 256: T·(6h·3f·L + 6(hd(a+2g) + adh)L + 6hV) + B·s²·6adL
    //        = 256·(589824 + 294912 + 38400) + 8·1024·6·64·4
    CHECK(result.model_flop.si() == 248905728.0);
    CHECK(result.mfu == Approx(248905728.0 / (0.1 * 4.0 * 1e15)));
}

TEST_CASE("summarize: hardware FLOP are those of every kernel on every rank") {
    const Result result = make_job(false).summarize();
    // two ranks with 3 products and two with 4, each 4e12
    CHECK(result.hardware_flop.si() == 2.0 * (3.0 + 4.0) * 4e12);
    CHECK(result.hfu == Approx(5.6e13 / (0.1 * 4.0 * 1e15)));
}

TEST_CASE("summarize: the busiest rank is the lowest of the class with most own work") {
    const Result result = make_job(false).summarize();
    CHECK(result.worst_rank == 2);
    CHECK(result.worst_stage == 1);
    CHECK(result.worst[0].si() == Approx(0.070).epsilon(kExact));
    CHECK(result.worst[1].si() == Approx(0.012).epsilon(kExact));
    CHECK(result.worst[2].si() == Approx(0.008).epsilon(kExact));
}

TEST_CASE("summarize: stages report their fullest rank, their layers and their own fractions") {
    const Result result = make_job(false).summarize();
    REQUIRE(result.stages.size() == 2);
    CHECK(result.stages[0].busy_fraction == Approx(0.66));
    CHECK(result.stages[1].busy_fraction == Approx(0.76));
    CHECK(result.stages[0].bubble_fraction == Approx(0.15));
    CHECK(result.stages[0].layers == 3);
    CHECK(result.stages[1].layers == 1);
    CHECK(result.stages[0].peak_memory.si() == 3.5 * static_cast<double>(kGiB));
    CHECK(result.stages[1].peak_memory.si() == 4.5 * static_cast<double>(kGiB));
}

TEST_CASE("summarize: layers of all chunks of a rank count for its stage") {
    test::Job job = make_job(false);
    job.plan.virtual_stages = 2;
    job.plan.stage_layers = {2, 1, 4, 8};  // virtual stages 0 and 2 are rank 0's
    const Result result = job.summarize();
    CHECK(result.stages[0].layers == 6);
    CHECK(result.stages[1].layers == 9);
}

TEST_CASE("summarize: the memory verdict compares the fullest rank with the capacity") {
    test::Job job = make_job(false);
    const Result fits = job.summarize();
    CHECK(fits.is_feasible);
    CHECK(fits.peak_memory_rank == 2);
    CHECK(fits.peak_memory_stage == 1);
    CHECK(fits.memory_margin == Approx(1.0 - 4.5 / 8.0));
    CHECK(fits.is_reserved_known);
    CHECK(fits.peak_reserved.si() == 4.5 * static_cast<double>(kGiB));

    job.capacity = Bytes(4.0 * static_cast<double>(kGiB));
    const Result full = job.summarize();
    CHECK_FALSE(full.is_feasible);
    CHECK(full.memory_margin == Approx(-0.125));
}

TEST_CASE("summarize: without memory events the reserved peak is unknown, not invented") {
    test::Job job = make_job(false);
    job.record.classes[1].memory.events.clear();
    const Result result = job.summarize();
    CHECK_FALSE(result.is_reserved_known);
    CHECK(Json::parse(json_report(result)).at("peak_reserved_bytes").is_null());
    CHECK(result.is_feasible);
}

TEST_CASE("summarize: the ledger joins classes, and leaves out groups of one") {
    const Result result = make_job(false).summarize();
    REQUIRE(result.communication.size() == 2);
    const LedgerRow& reduce = result.communication[0];  // longest first
    CHECK(reduce.dimension == Dimension::Tensor);
    CHECK(reduce.collective == CollectiveKind::AllReduce);
    CHECK(reduce.group_size == 2);
    CHECK(reduce.link == LinkKind::Nvlink);
    CHECK(reduce.calls_per_step == 12.0);
    CHECK(reduce.time.si() == Approx(0.040).epsilon(kExact));
    CHECK(reduce.exposed.si() == Approx(0.011).epsilon(kExact));
    const LedgerRow& message = result.communication[1];
    CHECK(message.name == "activations");
    CHECK(message.group_size == 2);
    CHECK(message.link == LinkKind::Nic);
    CHECK(message.calls_per_step == 4.0);
    CHECK(message.exposed.si() == Approx(0.0025).epsilon(kExact));
}

TEST_CASE("summarize: kernel time is told apart by its source") {
    const Result result = make_job(false).summarize();
    CHECK(result.kernel_time_source[0] == Approx(70.0 / 80.0));
    CHECK(result.kernel_time_source[1] == 0.0);
    CHECK(result.kernel_time_source[2] == Approx(10.0 / 80.0));
    REQUIRE(result.notes.size() == 1);
    CHECK(result.notes[0].find("1 kernel shape, 12.5% of kernel time, never measured") == 0);
}

TEST_CASE("summarize: a folded and an unfolded record give the same bits") {
    const auto without_effort = [](bool unfolded) {
        Json json = Json::parse(json_report(make_job(unfolded).summarize()));
        CHECK(json.erase("events") == 1);
        CHECK(json.erase("simulated_ranks") == 1);
        CHECK(json.erase("wall_time_s") == 1);
        return json.dump();
    };
    CHECK(without_effort(false) == without_effort(true));
}

TEST_CASE("summarize: sums of many long ranks do not overflow") {
    test::Job job = make_job(false);
    // 4 million ranks of 100,000 s each: 4e23 ps, above 2^63
    for (RankClass& each : job.record.ranks.classes) {
        each.count = 2'000'000;
    }
    for (ClassRecord& record : job.record.classes) {
        record.split = TimeSplit{};
        record.split.compute = SimTime::from_ps(100'000'000'000'000'000);
    }
    job.record.step_time = SimTime::from_ps(100'000'000'000'000'000);
    CHECK(job.summarize().compute.si() == Approx(1e5).epsilon(kExact));
}

TEST_CASE("summarize: a deadlock is told and nothing is computed from it") {
    test::Job job = make_job(false);
    job.record.deadlock = Deadlock{ms(3), {"rank 2 (stage 1): Recv waits for a Send of rank 0"}};
    job.record.classes.clear();
    const Result result = job.summarize();
    CHECK_FALSE(result.is_feasible);
    REQUIRE(result.deadlock.size() == 1);
    CHECK(text_report(result, 100, false).find("rank 2 (stage 1): Recv waits") !=
          std::string::npos);
}

}  // namespace
}  // namespace orrery
