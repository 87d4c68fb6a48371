// SPDX-License-Identifier: Apache-2.0
#include "tests/catch.hpp"
#include "tests/unit/engine/toy.hpp"

#include <array>
#include <vector>

using namespace orrery;  // NOLINT(google-build-using-namespace)
using toy::us;

namespace {

std::array<InstructionId, 1> after(InstructionId id) {
    return {id};
}

CommId message(ProgramSetBuilder& shared, std::int64_t peer) {
    return shared.communication({.kind = CollectiveKind::SendRecv,
                                 .dimension = Dimension::Pipeline,
                                 .group = GroupKind::Pipeline,
                                 .bytes = 1'000'000,
                                 .peer_stage = peer});
}

CommId reduction(ProgramSetBuilder& shared, GroupKind group, Dimension dimension) {
    return shared.communication({.kind = CollectiveKind::AllGather,
                                 .dimension = dimension,
                                 .group = group,
                                 .bytes = 2'000'000});
}

/// Stage 0 computes 10 us and sends 1 MB (3 us); stage 1 receives it and computes 20 us.
toy::Job pipeline_of_two() {
    ProgramSetBuilder shared;
    std::vector<ProgramBuilder> stages{ProgramBuilder(shared, 0), ProgramBuilder(shared, 1)};
    const InstructionId work = stages[0].kernel(CostId(10U), shared.name("f"));
    stages[0].send(StreamKind::ForwardSend, message(shared, 1), 7, after(work));
    const InstructionId got = stages[1].recv(StreamKind::ForwardRecv, message(shared, 0), 7);
    stages[1].kernel(CostId(20U), shared.name("f"), after(got));
    toy::Job job;
    job.plan.pipeline = 2;
    job.set = toy::together(shared, stages);
    return job;
}

}  // namespace

TEST_CASE("kernels of one stream run one after another") {
    ProgramSetBuilder shared;
    std::vector<ProgramBuilder> stages{ProgramBuilder(shared, 0)};
    stages[0].kernel(CostId(10U), shared.name("a"));
    stages[0].kernel(CostId(5U), shared.name("b"));
    toy::Job job;
    job.set = toy::together(shared, stages);
    const RunRecord record = job.run();
    CHECK(record.step_time == us(15));
    CHECK(record.classes[0].split.compute == us(15));
    CHECK(record.classes[0].split.total() == record.step_time);
}

TEST_CASE("a stage waits for its message: bubble until it leaves, communication while it travels") {
    const RunRecord record = pipeline_of_two().run();
    REQUIRE_FALSE(record.deadlock.has_value());
    CHECK(record.step_time == us(33));
    const TimeSplit& second = record.classes[1].split;
    CHECK(second.bubble == us(10));
    CHECK(second.exposed_communication[static_cast<std::size_t>(Dimension::Pipeline)] == us(3));
    CHECK(second.compute == us(20));
    const TimeSplit& first = record.classes[0].split;
    CHECK(first.compute == us(10));
    CHECK(first.bubble == us(20));
    CHECK(first.exposed_communication[static_cast<std::size_t>(Dimension::Pipeline)] == us(3));
    CHECK(first.total() == record.step_time);
    CHECK(second.total() == record.step_time);
}

TEST_CASE("a collective hidden under a kernel is not exposed") {
    ProgramSetBuilder shared;
    std::vector<ProgramBuilder> stages{ProgramBuilder(shared, 0)};
    const CommId comm = reduction(shared, GroupKind::Data, Dimension::Data);
    const InstructionId a = stages[0].kernel(CostId(10U), shared.name("a"));
    const InstructionId gather = stages[0].collective(StreamKind::Data, comm, after(a));
    stages[0].kernel(CostId(30U), shared.name("b"));
    stages[0].kernel(CostId(10U), shared.name("c"), after(gather));
    toy::Job job;
    job.plan.data = 8;
    job.set = toy::together(shared, stages);
    const RunRecord record = job.run();
    // 2 us + 7/8 · 2 MB at 1 TB/s
    CHECK(record.step_time == us(50));
    CHECK(record.classes[0].communications[comm.value()].calls == 1);
    CHECK(record.classes[0].communications[comm.value()].time == us(3.75));
    CHECK(record.classes[0].communications[comm.value()].exposed == us(0));
}

TEST_CASE("a kernel beside a collective loses the SMs that it holds, for as long as it does") {
    ProgramSetBuilder shared;
    std::vector<ProgramBuilder> stages{ProgramBuilder(shared, 0)};
    const CommId comm = reduction(shared, GroupKind::Data, Dimension::Data);
    stages[0].collective(StreamKind::Data, comm);
    stages[0].kernel(CostId(30U), shared.name("b"));
    toy::Job job;
    job.plan.data = 8;
    job.sms = 20;
    job.set = toy::together(shared, stages);
    // For 3.75 us the kernel runs at 80 of 100 SMs: 3 us of work are done, 27 us remain.
    CHECK((job.run().step_time - us(30.75)).ps() == Approx(0).margin(100));
}

TEST_CASE("launches set the pace where kernels are shorter than they take to issue") {
    ProgramSetBuilder shared;
    std::vector<ProgramBuilder> stages{ProgramBuilder(shared, 0)};
    for (int i = 0; i < 10; ++i) {
        stages[0].kernel(CostId(1U), shared.name("tiny"));
    }
    toy::Job job;
    job.set = toy::together(shared, stages);
    job.set.launch_costs[static_cast<std::size_t>(LaunchClass::Kernel)] = us(4);
    const RunRecord record = job.run();
    CHECK(record.step_time == us(41));
    CHECK(record.classes[0].split.host == us(31));
}

TEST_CASE("a host that waits for a kernel pays the next launch after it") {
    ProgramSetBuilder shared;
    std::vector<ProgramBuilder> stages{ProgramBuilder(shared, 0)};
    const InstructionId norm = stages[0].kernel(CostId(10U), shared.name("norm"));
    stages[0].host_wait(after(norm));
    stages[0].kernel(CostId(10U), shared.name("adam"));
    toy::Job job;
    job.set = toy::together(shared, stages);
    job.set.launch_costs[static_cast<std::size_t>(LaunchClass::Kernel)] = us(4);
    CHECK(job.run().step_time == us(4 + 10 + 4 + 10));
}

TEST_CASE("a full launch queue holds the host back to the oldest unfinished kernel") {
    ProgramSetBuilder shared;
    std::vector<ProgramBuilder> stages{ProgramBuilder(shared, 0)};
    stages[0].kernel(CostId(100U), shared.name("long"));
    for (int i = 0; i < 3; ++i) {
        stages[0].kernel(CostId(1U), shared.name("tiny"));
    }
    toy::Job job;
    job.set = toy::together(shared, stages);
    job.set.launch_costs[static_cast<std::size_t>(LaunchClass::Kernel)] = us(4);
    job.options.launch_queue = 1;
    // Each tiny kernel is issued only when the one before has ended: 4 + 100, then 3 · (4 + 1).
    CHECK(job.run().step_time == us(119));
    job.options.launch_queue = 1024;
    CHECK(job.run().step_time == us(107));
}

TEST_CASE("folded and unfolded runs agree to the bit") {
    toy::Job job = pipeline_of_two();
    job.plan.data = 4;
    const RunRecord folded = job.run();
    job.unfolded = true;
    const RunRecord unfolded = job.run();
    CHECK(folded.classes.size() == 2);
    CHECK(unfolded.classes.size() == 8);
    CHECK(folded.step_time == unfolded.step_time);
    CHECK(folded.fingerprint == unfolded.fingerprint);
}

TEST_CASE("steps that overlap are simulated until two agree") {
    ProgramSetBuilder shared;
    std::vector<ProgramBuilder> stages{ProgramBuilder(shared, 0), ProgramBuilder(shared, 1)};
    const CommId world = reduction(shared, GroupKind::World, Dimension::Data);
    // Stage 0 computes 10 us, stage 1 30 us, then all meet; after it stage 0 works 8 us and stage 1
    // 2 us.
    for (int s = 0; s < 2; ++s) {
        ProgramBuilder& stage = stages[static_cast<std::size_t>(s)];
        const InstructionId work = stage.kernel(CostId(s == 0 ? 10U : 30U), shared.name("work"));
        const InstructionId met = stage.collective(StreamKind::Data, world, after(work));
        stage.kernel(CostId(s == 0 ? 8U : 2U), shared.name("step"), after(met));
    }
    toy::Job job;
    job.plan.pipeline = 2;
    job.set = toy::together(shared, stages);
    job.set.crosses_step_border = true;
    const RunRecord record = job.run();
    // First step 30 + 3 + 8 = 41 us; from then on stage 1 starts 6 us before stage 0 is done: 35
    // us.
    CHECK(record.is_steady);
    CHECK(record.steps_simulated >= 3);
    CHECK(record.step_time == us(35));
    for (const ClassRecord& own : record.classes) {
        CHECK(own.split.total() == record.step_time);
    }
    job.set.crosses_step_border = false;
    CHECK(job.run().step_time == us(41));
}

TEST_CASE("two runs side by side do not disturb each other") {
    const toy::Job job = pipeline_of_two();
    const RunRecord first = job.run();
    const RunRecord second = job.run();
    CHECK(first.fingerprint == second.fingerprint);
}

TEST_CASE("a caller can stop a run") {
    ProgramSetBuilder shared;
    std::vector<ProgramBuilder> stages{ProgramBuilder(shared, 0)};
    for (int i = 0; i < 200'000; ++i) {
        stages[0].kernel(CostId(1U), shared.name("tiny"));
    }
    toy::Job job;
    job.set = toy::together(shared, stages);
    job.options.progress = [](double) { return false; };
    CHECK(job.run().is_stopped);
}

TEST_CASE("a kernel of half an hour takes half an hour, beside a collective too") {
    ProgramSetBuilder shared;
    std::vector<ProgramBuilder> stages{ProgramBuilder(shared, 0)};
    stages[0].collective(StreamKind::Data, reduction(shared, GroupKind::Data, Dimension::Data));
    stages[0].kernel(CostId(0U), shared.name("long"));
    Plan plan;
    plan.data = 8;
    const RankMesh mesh(plan);
    const Cluster where = toy::cluster(8, 20);
    AnalyticNetwork network(where);
    CostTable costs = toy::costs(1);
    costs[CostId(0U)].duration = us(1800e6);
    const ProgramSet set = toy::together(shared, stages);
    const RunRecord record =
        run_programs(set, costs, fold_ranks(list_rank_groups(mesh), set, where, false), network,
                     Contention(100, 1.0, 0.9), {});
    CHECK(record.step_time.seconds().si() == Approx(1800.0).epsilon(1e-6));
    CHECK(record.step_time > us(1800e6));
}

TEST_CASE("a collective that waited for a message leaves the time before it to the message") {
    // Stage 1 receives (10 us of bubble, 3 us of travel), gathers on its tensor stream (3.75 us),
    // computes.
    ProgramSetBuilder shared;
    std::vector<ProgramBuilder> stages{ProgramBuilder(shared, 0), ProgramBuilder(shared, 1)};
    const InstructionId work = stages[0].kernel(CostId(10U), shared.name("f"));
    stages[0].send(StreamKind::ForwardSend, message(shared, 1), 7, after(work));
    const InstructionId got = stages[1].recv(StreamKind::ForwardRecv, message(shared, 0), 7);
    const CommId gather = reduction(shared, GroupKind::Data, Dimension::Tensor);
    const InstructionId whole = stages[1].collective(StreamKind::Tensor, gather, after(got));
    stages[1].kernel(CostId(20U), shared.name("f"), after(whole));
    toy::Job job;
    job.plan.pipeline = 2;
    job.plan.data = 8;
    job.set = toy::together(shared, stages);
    const RunRecord record = job.run();
    const std::size_t last = record.ranks.class_of_rank.back().value();
    const TimeSplit& split = record.classes[last].split;
    CHECK(split.bubble == us(10));
    CHECK(split.exposed_communication[static_cast<std::size_t>(Dimension::Pipeline)] == us(3));
    CHECK(split.exposed_communication[static_cast<std::size_t>(Dimension::Tensor)] == us(3.75));
}
