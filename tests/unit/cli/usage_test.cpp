// SPDX-License-Identifier: Apache-2.0
#include "tests/catch.hpp"
#include "tests/unit/cli/run_orrery.hpp"

namespace orrery::test {
namespace {

TEST_CASE("orrery: every command has --help with an example, on standard output") {
    for (const char* command : {"simulate", "list", "schedule", "import"}) {
        const Outcome help = run_orrery({command, "--help"});
        INFO(command);
        CHECK(help.exit_code == 0);
        CHECK(has(help.out, "Example:\n  orrery " + std::string(command)));
        CHECK(help.err.empty());
    }
}

TEST_CASE("orrery: commands that are not built are refused by name") {
    for (const char* command : {"sweep", "plan", "explain", "compare", "goodput", "cost",
                                "validate", "collective", "kernel", "export", "fit"}) {
        const Outcome refused = run_orrery({command, "x", "--json", "y"});
        CHECK(refused.exit_code == 2);
        CHECK(has(refused.err, "orrery " + std::string(command) + " is not built yet"));
        CHECK(refused.out.empty());
    }
}

TEST_CASE("orrery: an unknown command names the nearest") {
    const Outcome refused = run_orrery({"simulat"});
    CHECK(refused.exit_code == 2);
    CHECK(has(refused.err, "unknown command 'simulat'"));
    CHECK(has(refused.err, "did you mean 'simulate'?"));
}

TEST_CASE("orrery: without a command it says how it is used and fails") {
    const Outcome bare = run_orrery({});
    CHECK(bare.exit_code == 2);
    CHECK(has(bare.err, "Usage: orrery"));
    CHECK(bare.out.empty());
}

TEST_CASE("orrery: options that are not built and unknown ones are refused together") {
    const Outcome refused =
        run_orrery({"simulate", small_scenario(), "--out", "x.orrery", "--interval", "--threads",
                    "4", "--draws", "9", "--jsn", "x"});
    CHECK(refused.exit_code == 2);
    for (const char* option : {"--out", "--interval", "--threads", "--draws"}) {
        CHECK(has(refused.err, std::string(option) + ": is not built yet"));
    }
    CHECK(has(refused.err, "unknown option '--jsn'"));
    CHECK(has(refused.err, "did you mean '--json'?"));
    CHECK(refused.out.empty());
}

TEST_CASE("orrery: a missing positional or value is bad input") {
    CHECK(run_orrery({"simulate"}).exit_code == 2);
    CHECK(run_orrery({"schedule", "gpipe", "--stages"}).exit_code == 2);
    CHECK(run_orrery({"schedule", "gpipe", "--stages", "two", "--microbatches", "2"}).exit_code ==
          2);
}

TEST_CASE("orrery import: formats that are not built are refused, unknown ones named") {
    for (const char* kind :
         {"megatron-args", "torchtitan", "nccl-tests", "kineto", "nsys", "csv"}) {
        const Outcome refused = run_orrery({"import", kind, "x"});
        CHECK(refused.exit_code == 2);
        CHECK(has(refused.err, "import of " + std::string(kind) + " is not built yet"));
    }
    CHECK(has(run_orrery({"import", "hf-confg", "x"}).err, "did you mean 'hf-config'?"));
}

TEST_CASE("orrery import hf-config: a model's config becomes a scenario's model") {
    const TemporaryFolder folder;
    write_text(folder.file("config.json"), R"({"architectures": ["LlamaForCausalLM"],
        "hidden_act": "silu", "hidden_size": 4096, "intermediate_size": 14336, "model_type": "llama",
        "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 8,
        "max_position_embeddings": 8192, "rms_norm_eps": 1e-05, "tie_word_embeddings": false,
        "vocab_size": 128256})");
    const Outcome printed = run_orrery({"import", "hf-config", folder.file("config.json")});
    CHECK(printed.exit_code == 0);
    CHECK(has(printed.out, "14336"));
    CHECK(has(printed.out, "128256"));
    const Outcome written = run_orrery(
        {"import", "hf-config", folder.file("config.json"), "--out", folder.file("m.textproto")});
    CHECK(written.exit_code == 0);
    CHECK(written.out.empty());
    CHECK(read_text(folder.file("m.textproto")) == printed.out);
    CHECK(folder.names() == std::vector<std::string>{"config.json", "m.textproto"});
}

TEST_CASE("orrery import hf-config: a file that is no JSON is bad input and writes nothing") {
    const TemporaryFolder folder;
    write_text(folder.file("config.json"), "{\"hidden_size\": ");
    const Outcome refused = run_orrery(
        {"import", "hf-config", folder.file("config.json"), "--out", folder.file("m.textproto")});
    CHECK(refused.exit_code == 2);
    CHECK(has(refused.err, "config.json"));
    CHECK(folder.names() == std::vector<std::string>{"config.json"});
}

}  // namespace
}  // namespace orrery::test
