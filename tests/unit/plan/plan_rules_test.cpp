// SPDX-License-Identifier: Apache-2.0
#include "plan/plan_rules.hpp"

#include "tests/catch.hpp"

#include <algorithm>
#include <string>

namespace orrery {
namespace {

/// Llama 3 70B on 64 GPUs, tensor 8, pipeline 4, data 2: breaks no rule.
struct Setup {
    Setup() {
        model.layers = 80;
        model.hidden = 8192;
        model.ffn_hidden = 28672;
        model.heads = 64;
        model.kv_heads = 8;
        model.head_dim = 128;
        model.vocab = 128256;
        training.sequence_length = 8192;
        training.global_batch = 64;
        cluster.gpus = 64;
        plan.tensor = 8;
        plan.pipeline = 4;
        plan.data = 2;
        plan.microbatch_group = 4;
        plan.stage_layers = {20, 20, 20, 20};
    }

    [[nodiscard]] std::string broken() const {
        std::string text;
        for (const RuleViolation& violation :
             check_plan({.plan = plan, .model = model, .training = training, .cluster = cluster})) {
            text += violation.field + ": " + violation.message + "\n";
        }
        return text;
    }

    [[nodiscard]] std::size_t notes() const {
        return plan_notes({.plan = plan, .model = model, .training = training, .cluster = cluster})
            .size();
    }

    Plan plan;
    Transformer model;
    Training training;
    Cluster cluster;
};

}  // namespace

TEST_CASE("a plan that fits breaks no rule and needs no note") {
    CHECK(Setup().broken().empty());
    CHECK(Setup().notes() == 0);
}

TEST_CASE("each broken rule is told with its numbers") {
    Setup degrees;
    degrees.plan.data = 3;
    degrees.training.global_batch = 66;
    CHECK(degrees.broken() ==
          "plan.data: tensor x pipeline x context x data = 8 x 4 x 1 x 3 = 96, but the job has 64 "
          "GPUs\n");

    Setup heads;
    heads.model.heads = 60;
    CHECK(heads.broken() == "plan.tensor: tensor = 8 does not divide model.heads = 60\n");

    Setup ffn;
    ffn.model.ffn_hidden = 28676;
    CHECK(ffn.broken() == "plan.tensor: tensor = 8 does not divide model.ffn_hidden = 28676\n");

    Setup groups;
    groups.model.kv_heads = 4;
    CHECK(groups.broken().find("tensor = 8 is more than model.kv_heads = 4") != std::string::npos);
}

TEST_CASE("degrees whose product passes 63 bits are refused, not wrapped around") {
    Setup huge;
    huge.plan.tensor = 2'000'000'000;
    huge.plan.pipeline = 2'000'000'000;
    huge.plan.data = 2'000'000'000;
    CHECK(huge.broken().find("over 2^63, but the job has 64 GPUs") != std::string::npos);
}

TEST_CASE("a group of micro-batches is from p to m and leaves 0 or at least p") {
    // p = 4, m = 32: by hand, of the groups 3 to 33 these leave 1 to 3 micro-batches or lie
    // outside.
    const std::vector<std::int64_t> broken{3, 5, 6, 10, 15, 29, 30, 31, 33};
    for (std::int64_t group = 3; group <= 33; ++group) {
        Setup setup;
        setup.plan.schedule = ScheduleKind::Interleaved;
        setup.plan.virtual_stages = 2;
        setup.plan.stage_layers.assign(8, 10);
        setup.plan.microbatch_group = group;
        INFO(group);
        CHECK(setup.broken().empty() == (std::ranges::find(broken, group) == broken.end()));
    }
}

TEST_CASE(
    "a note tells of tensor groups beyond NVLink, uneven stages and recomputation that does "
    "nothing") {
    Setup domain;
    domain.cluster.gpus_per_domain = 4;
    CHECK(domain.notes() == 1);
    Setup uneven;
    uneven.plan.stage_layers = {19, 21, 21, 19};
    CHECK(uneven.notes() == 1);
    Setup selective;
    selective.plan.recompute = Recompute::Selective;
    CHECK(selective.notes() == 1);
    selective.training.attention = AttentionImpl::Unfused;
    CHECK(selective.notes() == 0);
}

}  // namespace orrery
