// SPDX-License-Identifier: Apache-2.0
#include "tests/catch.hpp"
#include "text_of_scenario.hpp"

#include <string>
#include <vector>

namespace orrery::test {

TEST_CASE("what is not built yet is refused by name") {
    const std::vector<std::string> refused{"plan.context=2",
                                           "plan.context_kind=ULYSSES",
                                           "plan.context_inner=2",
                                           "plan.expert=2",
                                           "plan.expert_tensor=2",
                                           "plan.expert_dispatcher=DEEPEP",
                                           "plan.expert_overlap=true",
                                           "plan.capacity_factor=1.25",
                                           "plan.data_parallel_kind=FSDP2",
                                           "plan.zero=PARAMETERS",
                                           "plan.zero=GRADIENTS",
                                           "plan.reshard_after_forward=true",
                                           "plan.hybrid_shard_size=8",
                                           "plan.schedule=ZB_H1",
                                           "plan.schedule=DUALPIPE_V",
                                           "plan.optimizer_barrier=false",
                                           "plan.tensor_overlap=USER_BUFFERS",
                                           "plan.recompute_modules=[mlp]",
                                           "plan.offload=OPTIMIZER",
                                           "training.sequence_histogram=lengths.csv",
                                           "training.precision=FP8",
                                           "training.precision=NVFP4",
                                           "training.recipe=FP32_PARAMS",
                                           "training.optimizer=SGD",
                                           "training.compile=true",
                                           "training.cuda_graphs=true",
                                           "training.expert_load=ZIPF",
                                           "training.mtp_layers=1",
                                           "training.seed=7",
                                           "network.algorithm=TREE",
                                           "network.protocol=LL",
                                           "network.nvls=OFF",
                                           "network.routing=ECMP"};
    for (const std::string& set : refused) {
        const std::string errors = errors_of({set});
        const std::string path = set.substr(0, set.find('='));
        INFO(set << "\n" << errors);
        CHECK(errors.starts_with("--set: " + path));
        CHECK(errors.find("is not built yet") != std::string::npos);
    }
}

TEST_CASE("the neutral value of what is not built yet changes nothing") {
    const Scenario plain = load({});
    const Scenario neutral =
        load({"plan.context=1", "plan.expert=1", "plan.offload=NONE", "plan.tensor_overlap=NONE",
              "plan.optimizer_barrier=true", "training.compile=false", "training.mtp_layers=0",
              "network.algorithm=AUTO", "network.nvls=DEFAULT"});
    CHECK(plain.plan == neutral.plan);
    CHECK(plain.training == neutral.training);
    CHECK(plain.text == neutral.text);
}

TEST_CASE("a value out of range is told with its range, at its line") {
    CHECK(errors_of_text("model { preset: \"llama3-8b\" }\n"
                         "training { sequence_length: 8192 global_batch: 8 }\n"
                         "cluster { preset: \"dgx-h100\" }\n"
                         "plan {\n"
                         "  tensor: 0\n"
                         "}\n") ==
          "s.textproto:5:3: plan.tensor: 0 is out of range\n    from 1 to 65536\n");
    CHECK(errors_of({"plan.pipeline=-1"}) ==
          "--set: plan.pipeline: -1 is out of range\n    from 1 to 65536\n");
    CHECK(errors_of({"plan.stage_layers=[20,20,20,-20]"})
              .find("plan.stage_layers[3]: -20 is out of range") != std::string::npos);
    CHECK(errors_of({"model.dropout=nan"}).find("model.dropout: nan is out of range") !=
          std::string::npos);
}

}  // namespace orrery::test
