// SPDX-License-Identifier: Apache-2.0
#include "tests/catch.hpp"
#include "text_of_scenario.hpp"

#include <string>

namespace orrery::test {
namespace {

bool has(const std::string& errors, const std::string& part) {
    UNSCOPED_INFO(errors);
    return errors.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a rule is told at the line of the field that breaks it") {
    CHECK(errors_of_text("model { preset: \"llama3-70b\" }\n"
                         "training { sequence_length: 8192 global_batch: 60 }\n"
                         "cluster { preset: \"dgx-h100\" gpus: 60 }\n"
                         "plan {\n"
                         "  pipeline: 5\n"
                         "  tensor: 3\n"
                         "}\n") ==
          "s.textproto:6:3: plan.tensor: tensor = 3 does not divide model.heads = 64\n"
          "    valid for this model: 1, 2, 4, 8\n"
          "s.textproto:6:3: plan.tensor: tensor = 3 does not divide model.kv_heads = 8\n"
          "    valid for this model: 1, 2, 4, 8\n"
          "s.textproto:6:3: plan.tensor: tensor = 3 does not divide model.ffn_hidden = 28672\n"
          "    valid for this model: 1, 2, 4, 8\n");
}

TEST_CASE("a syntax error, a range, a rule and a bad override are told together") {
    const auto scenario = parse_scenario(
        "model { preset: \"llama3-70b\" laers: 3 }\n"
        "training { sequence_length: 8192 global_batch: 63 micro_batch: 0 }\n"
        "cluster { preset: \"dgx-h100\" nodes: 3 }\n"
        "plan { tensor: 8 pipeline: 3 data: 2 }\n",
        "s.textproto", {{"plan.recomput", "FULL"}});
    REQUIRE_FALSE(scenario);
    const std::string errors = to_string(scenario.error());
    CHECK(has(errors, "s.textproto:1:30: model.laers: there is no field"));
    CHECK(has(errors, "s.textproto:2:51: training.micro_batch: 0 is out of range"));
    CHECK(
        has(errors,
            "s.textproto:4:30: plan.data: tensor x pipeline x context x data = 8 x 3 x 1 x 2 = 48, "
            "but the job has 24 GPUs"));
    CHECK(has(errors, "--set: plan.recomput: there is no field 'recomput'"));
}

TEST_CASE("a rule over a misspelt field is not told") {
    const std::string errors = errors_of_text(
        "model { preset: \"llama3-70b\" }\n"
        "training { sequence_length: 8192 global_batch: 3 }\n"
        "cluster { preset: \"dgx-h100\" }\n"
        "plan { tensr: 8 }\n");
    CHECK(errors ==
          "s.textproto:4:8: plan.tensr: there is no field of this name\n    did you mean "
          "'tensor'?\n");
}

TEST_CASE("a rule over a preset that is not there is not told") {
    CHECK(errors_of({"model.preset=llama3-70", "plan.tensor=3", "plan.pipeline=1",
                     "plan.sequence_parallel=false"}) ==
          "--set: model.preset: there is no model named \"llama3-70\"\n    did you mean "
          "'llama3-70b'?\n"
          "--set: plan.data: tensor x pipeline x context x data = 3 x 1 x 1 x 21 = 63, but the job "
          "has 64 "
          "GPUs\n    tensor x pipeline x context must divide the number of GPUs = 64\n");
}

TEST_CASE("degrees: their product is the number of GPUs") {
    CHECK(has(errors_of({"plan.pipeline=5"}),
              "= 8 x 5 x 1 x 1 = 40, but the job has 64 GPUs\n"
              "    tensor x pipeline x context must divide"));
    CHECK(has(errors_of({"plan.data=4"}), "= 8 x 4 x 1 x 4 = 128, but the job has 64 GPUs"));
    CHECK(load({}).plan.data == 2);
    CHECK(load({"plan.pipeline=2"}).plan.data == 4);
}

TEST_CASE("tensor: more ranks than key-value heads are refused with the reason") {
    CHECK(has(errors_of({"plan.tensor=16"}),
              "tensor = 16 is more than model.kv_heads = 8: ranks would have "
              "to hold copies"));
}

TEST_CASE("batch: the global batch is a multiple of micro-batch times data") {
    CHECK(has(errors_of({"training.global_batch=63"}),
              "global_batch = 63 is not divisible by micro_batch x data = 1 x 2 = 2"));
    CHECK(errors_of({"training.micro_batch=32"}).empty());
}

TEST_CASE("sequence parallelism needs a sequence that tensor divides") {
    CHECK(has(errors_of({"training.sequence_length=8191"}),
              "sequence_length = 8191 is not divisible by tensor x context = 8 x 1"));
    CHECK(errors_of({"training.sequence_length=8191", "plan.sequence_parallel=false"}).empty());
    CHECK_FALSE(
        load({"plan.tensor=1", "plan.pipeline=8", "plan.recompute=FULL"}).plan.sequence_parallel);
}

TEST_CASE("interleaving: groups and micro-batches") {
    const std::string interleaved = "plan.virtual_stages=2";
    CHECK(load({interleaved}).plan.schedule == ScheduleKind::Interleaved);
    CHECK(load({interleaved}).plan.microbatch_group == 4);
    CHECK(has(errors_of({interleaved, "plan.microbatch_group=3"}),
              "microbatch_group = 3 must lie between pipeline = 4 and the number of micro-batches, "
              "global_batch / (micro_batch x data) = 64 / (1 x 2) = 32"));
    CHECK(has(errors_of({interleaved, "plan.microbatch_group=33"}),
              "microbatch_group = 33 must lie"));
    // 32 in groups of 6: five groups and 2, less than 4 stages. In groups of 7: four and 4.
    CHECK(has(errors_of({interleaved, "plan.microbatch_group=6"}),
              "32 micro-batches in groups of 6 leave a last group of 2, less than pipeline = 4"));
    CHECK(errors_of({interleaved, "plan.microbatch_group=7"}).empty());
    CHECK(has(errors_of({"plan.schedule=INTERLEAVED"}),
              "INTERLEAVED needs pipeline > 1 and virtual_stages > 1, not 4 and 1"));
    CHECK(has(errors_of({interleaved, "plan.schedule=GPIPE"}),
              "virtual_stages = 2 needs schedule INTERLEAVED or FILE"));
    CHECK(has(errors_of({interleaved, "training.global_batch=6"}),
              "at least as many micro-batches as stages"));
}

TEST_CASE("stages: stage_layers has an entry for each and sums to the layers") {
    CHECK(load({"plan.stage_layers=[19,21,21,19]"}).plan.stage_layers ==
          std::vector<std::int64_t>{19, 21, 21, 19});
    CHECK(has(errors_of({"plan.stage_layers=[19,21,21,20]"}), "sums to 81, but model.layers = 80"));
    CHECK(has(errors_of({"plan.stage_layers=[40,40]"}),
              "has 2 entries, but pipeline x virtual_stages = 4 x 1 = 4"));
    CHECK(has(errors_of({"plan.stage_layers=[20,20,20,20]", "plan.loss_as_layer=true"}),
              "plan.loss_as_layer: has no effect beside plan.stage_layers"));
    CHECK(has(errors_of({"plan.virtual_stages=32"}),
              "= 4 x 32 = 128 stages are more than model.layers = 80"));
}

TEST_CASE("learned positions: the sequence fits the table") {
    CHECK(has(errors_of({"model.position=LEARNED", "model.max_positions=2048"}),
              "sequence_length = 8192 is more than model.max_positions = 2048"));
    CHECK(load({"model.position=LEARNED"}).model.max_positions == 8192);
}

TEST_CASE("options that contradict each other or have no effect are refused") {
    CHECK(has(errors_of({"plan.data_parallel_kind=DDP", "plan.zero=OPTIMIZER"}),
              "DDP shards nothing: zero must be NONE"));
    CHECK(has(errors_of({"plan.zero=NONE", "plan.data_parallel_kind=DISTRIBUTED_OPTIMIZER"}),
              "zero must be OPTIMIZER"));
    CHECK(has(errors_of({"plan.data_parallel_kind=DDP", "plan.overlap_param_gather=true"}),
              "overlap_param_gather needs DISTRIBUTED_OPTIMIZER"));
    CHECK(has(errors_of({"plan.recompute_layers=2"}), "has no effect without recompute FULL"));
    CHECK(has(errors_of({"plan.recompute_method=BLOCK"}), "has no effect without recompute FULL"));
    CHECK(
        has(errors_of({"plan.microbatch_group=8"}), "has no effect without schedule INTERLEAVED"));
    CHECK(has(errors_of({"plan.schedule_file=x.txt"}), "has no effect without schedule FILE"));
    CHECK(has(errors_of({"plan.schedule=FILE"}), "is required by schedule FILE"));
    CHECK(has(errors_of({"plan.grad_reduce_dtype=FP16"}),
              "in the number format of training.precision"));
    CHECK(has(errors_of({"plan.rank_order=tp-dp-pp"}), "is not an order of the axes"));
    CHECK(has(errors_of({"plan.rank_order=tp-tp-ep-dp-pp"}), "is not an order of the axes"));
}

TEST_CASE("cluster: GPUs fit the nodes and the domain fits the node") {
    CHECK(
        has(errors_of({"cluster.gpus=65"}), "gpus = 65 are more than 8 nodes of 8 GPUs hold (64)"));
    CHECK(has(errors_of({"cluster.gpus_per_domain=12"}), "one must be a multiple of the other"));
    CHECK(
        has(errors_of({"cluster.preset=dgx-h10"}),
            "cluster.preset: there is no cluster named \"dgx-h10\"\n    did you mean 'dgx-h100'?"));
    CHECK(has(errors_of({"cluster.gpu=h100-smx"}), "cluster.gpu: "));
}

TEST_CASE("model: what is missing is asked for, and a preset's nearest name is told") {
    const std::string errors = errors_of_text(
        "model { layers: 2 heads: 3 }\n"
        "cluster { preset: \"dgx-h100\" }\n");
    CHECK(has(errors, "model.hidden: is required"));
    CHECK(has(errors, "model.vocab: is required"));
    CHECK(has(errors, "training.sequence_length: is required"));
    CHECK(has(errors, "training.global_batch: is required"));
    CHECK(has(errors_of({"model.preset=llama3-7b"}),
              "there is no model named \"llama3-7b\"\n    did you mean"));
    CHECK(has(errors_of({"model.kv_heads=7"}), "kv_heads = 7 does not divide model.heads = 64"));
}

}  // namespace orrery::test
