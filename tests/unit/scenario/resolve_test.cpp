// SPDX-License-Identifier: Apache-2.0
#include "tests/catch.hpp"
#include "text_of_scenario.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace orrery::test {
namespace {

bool has_note(const Scenario& scenario, const std::string& part) {
    for (const std::string& note : scenario.notes) {
        if (note.find(part) != std::string::npos) {
            return true;
        }
    }
    return false;
}

void check_same(const Scenario& a, const Scenario& b) {
    CHECK(a.name == b.name);
    CHECK(a.model == b.model);
    CHECK(a.training == b.training);
    CHECK(a.plan == b.plan);
    CHECK(a.cluster.preset == b.cluster.preset);
    CHECK(a.cluster.gpu == b.cluster.gpu);
    CHECK(a.cluster.fabric == b.cluster.fabric);
    CHECK(a.cluster.gpus == b.cluster.gpus);
    CHECK(a.cluster.gpus_per_node == b.cluster.gpus_per_node);
    CHECK(a.cluster.gpus_per_domain == b.cluster.gpus_per_domain);
    CHECK(a.cluster.nics_per_node == b.cluster.nics_per_node);
    CHECK(a.gpu.name == b.gpu.name);
    CHECK(a.framework.name == b.framework.name);
    CHECK(a.framework.release == b.framework.release);
    CHECK(a.framework.impl == b.framework.impl);
    CHECK(a.text == b.text);
}

/// A folder that is gone after the test.
class TemporaryFolder {
  public:
    TemporaryFolder() {
        std::string path = (std::filesystem::temp_directory_path() / "orrery-XXXXXX").string();
        REQUIRE(mkdtemp(path.data()) != nullptr);
        path_ = path;
    }

    ~TemporaryFolder() { std::filesystem::remove_all(path_); }

    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    std::string write(const std::string& name, const std::string& text) const {
        const std::filesystem::path file = path_ / name;
        std::ofstream(file) << text;
        return file.string();
    }

  private:
    std::filesystem::path path_;
};

}  // namespace

TEST_CASE("unset fields take the preset's value, then the framework's, then the default") {
    const Scenario scenario = load({});
    CHECK(scenario.model.layers == 80);               // the preset's
    CHECK(scenario.model.vocab_divisible_by == 128);  // the framework's
    CHECK(scenario.plan.data_parallel_kind == DataParallelKind::DistributedOptimizer);
    CHECK(scenario.plan.overlap_param_gather);
    CHECK(scenario.training.micro_batch == 1);  // the default
    CHECK(scenario.cluster.gpu == "h100-sxm");
    CHECK(scenario.gpu.name == "h100-sxm");
    CHECK(scenario.cluster.gpus == 64);
}

TEST_CASE("what is set wins over preset and framework, even where it is the least value") {
    const Scenario scenario =
        load({"model.layers=8", "model.vocab_divisible_by=1", "model.tied_embeddings=true",
              "plan.overlap_grad_reduce=false", "cluster.gpus_per_domain=4"});
    CHECK(scenario.model.layers == 8);
    CHECK(scenario.model.vocab_divisible_by == 1);
    CHECK(scenario.model.tied_embeddings);
    CHECK_FALSE(scenario.plan.overlap_grad_reduce);
    CHECK(scenario.cluster.gpus_per_domain == 4);
    CHECK(has_note(scenario, "tensor groups of 8 leave the NVLink domain of 4 GPUs"));
}

TEST_CASE("of sharding and its kind the one that is set decides the other") {
    const Scenario by_zero = load({"plan.zero=NONE"});
    CHECK(by_zero.plan.data_parallel_kind == DataParallelKind::Ddp);
    CHECK_FALSE(by_zero.plan.overlap_param_gather);
    const Scenario by_kind = load({"plan.data_parallel_kind=DDP"});
    CHECK(by_kind.plan.zero == ZeroStage::None);
}

TEST_CASE("a default that is not built yet is told at the framework's line") {
    const std::string errors = errors_of({"training.framework=TORCHTITAN"});
    INFO(errors);
    CHECK(errors.find("torchtitan.textproto:") != std::string::npos);
    CHECK(
        errors.find(
            "plan.data_parallel_kind: FSDP2 is not built yet (a default of TORCHTITAN 2025-06)") !=
        std::string::npos);
    const Scenario replaced = load({"training.framework=TORCHTITAN", "plan.data_parallel_kind=DDP",
                                    "training.recipe=FP32_MAIN_GRADS"});
    CHECK(replaced.framework.name == "TORCHTITAN");
    CHECK(replaced.framework.impl == "eager");
}

TEST_CASE("a release overlays the newest, and an unknown one is refused with those known") {
    const Scenario old = load({"training.framework_release=2022"});
    CHECK(old.framework.release == "2022");
    CHECK(old.training.attention == AttentionImpl::Unfused);
    CHECK(old.plan.data_parallel_kind == DataParallelKind::Ddp);
    CHECK(old.framework.kernel_launch == load({}).framework.kernel_launch);
    const std::string errors = errors_of({"training.framework_release=26.09"});
    INFO(errors);
    CHECK(errors.find(
              "training.framework_release: the profile of MEGATRON has no release \"26.09\"") !=
          std::string::npos);
    CHECK(errors.find("did you mean '26.0") != std::string::npos);
}

TEST_CASE("OTHER is a Megatron-like default") {
    CHECK(load({"training.framework=OTHER"}).framework.name == "MEGATRON");
}

TEST_CASE("layers that do not divide go to the first stages, embedding and loss counted as asked") {
    CHECK(load({"model.layers=126", "plan.pipeline=8", "plan.embedding_as_layer=true",
                "plan.loss_as_layer=true"})
              .plan.stage_layers == std::vector<std::int64_t>{15, 16, 16, 16, 16, 16, 16, 15});
    CHECK(load({"model.layers=126", "plan.pipeline=4"}).plan.stage_layers ==
          std::vector<std::int64_t>{32, 32, 31, 31});
}

TEST_CASE("the gradient bucket grows with the group that reduces it") {
    CHECK(load({}).plan.bucket_size == 40'000'000);
    CHECK(load({"cluster.nodes=256", "training.global_batch=2048"}).plan.bucket_size == 64'000'000);
}

TEST_CASE("every shipped example loads, and its resolved text loads to the same scenario") {
    int count = 0;
    for (const auto& entry :
         std::filesystem::directory_iterator(scenarios_folder() + "/examples")) {
        if (entry.path().extension() != ".textproto") {
            continue;
        }
        ++count;
        INFO(entry.path());
        const auto scenario = load_scenario(entry.path().string(), {});
        INFO((scenario ? "" : to_string(scenario.error())));
        REQUIRE(scenario);
        check_same(*scenario, load_text(scenario->text));
    }
    CHECK(count >= 2);
}

TEST_CASE("the resolved text stands without the preset's help and keeps what was overridden") {
    const Scenario scenario =
        load({"plan.virtual_stages=2", "plan.microbatch_group=8", "plan.recompute=FULL",
              "plan.recompute_method=BLOCK", "plan.recompute_layers=3", "model.dropout=0.1",
              "plan.rank_order=tp-dp-cp-ep-pp", "training.allocator=EXPANDABLE",
              "cluster.gpus_per_domain=4"});
    CHECK(scenario.text.find("llama3-70b\"") != std::string::npos);
    CHECK(scenario.text.find("preset: \"llama3-70b\"") == std::string::npos);
    check_same(scenario, load_text(scenario.text));
}

TEST_CASE("files beside the scenario are found from its folder") {
    const TemporaryFolder folder;
    folder.write("own.textproto",
                 "layers: 8 hidden: 1024 ffn_hidden: 4096 heads: 16 vocab: 32000\n");
    folder.write("order.txt", "F0 B0 F1 B1  # stage 0\n\nF0 B0 F1 B1\n");
    const std::string file =
        folder.write("s.textproto",
                     "model { preset: \"own.textproto\" }\n"
                     "training { sequence_length: 1024 global_batch: 2 }\n"
                     "cluster { preset: \"dgx-h100\" gpus: 2 }\n"
                     "plan { pipeline: 2 schedule: FILE schedule_file: \"order.txt\" }\n");
    const auto scenario = load_scenario(file, {});
    INFO((scenario ? "" : to_string(scenario.error())));
    REQUIRE(scenario);
    CHECK(scenario->name == "s");
    CHECK(scenario->model.kv_heads == 16);
    CHECK(scenario->model.head_dim == 64);
    REQUIRE(scenario->plan.schedule_order.size() == 2);
    CHECK(scenario->plan.schedule_order[1] == "F0 B0 F1 B1");
    check_same(*scenario, load_text(scenario->text));
    const auto three = load_scenario(file, {{"plan.pipeline", "1"}, {"cluster.gpus", "1"}});
    REQUIRE_FALSE(three);
    CHECK(to_string(three.error()).find("has 2 lines, but pipeline = 1") != std::string::npos);
}

TEST_CASE("an error in a preset is told at the preset's own line") {
    const TemporaryFolder folder;
    const std::string preset = folder.write("own.textproto", "layers: 8\nhidden: 0\nheeds: 16\n");
    const std::string file = folder.write("s.textproto", "model { preset: \"own.textproto\" }\n");
    const auto scenario = load_scenario(file, {});
    REQUIRE_FALSE(scenario);
    const std::string errors = to_string(scenario.error());
    INFO(errors);
    CHECK(errors.find(preset + ":3:1: heeds: there is no field") != std::string::npos);
}

TEST_CASE("a range error of a preset's valid field is told at its line there") {
    const TemporaryFolder folder;
    const std::string preset =
        folder.write("own.textproto", "layers: 8\nhidden: 0\nffn_hidden: 8\nheads: 1\nvocab: 10\n");
    const std::string file = folder.write("s.textproto", "model { preset: \"own.textproto\" }\n");
    const auto scenario = load_scenario(file, {});
    REQUIRE_FALSE(scenario);
    const std::string errors = to_string(scenario.error());
    INFO(errors);
    CHECK(errors.find(preset + ":2:1: model.hidden: 0 is out of range") != std::string::npos);
}

TEST_CASE("a file that is not there, and a folder, are told by name") {
    CHECK(to_string(load_scenario("/no/such.textproto", {}).error()) ==
          "/no/such.textproto: cannot be read\n");
    CHECK(to_string(load_scenario("/", {}).error()) == "/: is a folder\n");
}

}  // namespace orrery::test
