// SPDX-License-Identifier: Apache-2.0
#include "model/transformer.hpp"

#include "preset_text.hpp"
#include "tests/catch.hpp"

#include <set>

using namespace orrery;  // NOLINT(google-build-using-namespace)

TEST_CASE("every dense preset has the published number of parameters, to the digit") {
    struct Row {
        const char* name;
        std::int64_t parameters;
    };

    // Llama, Qwen: the publishers' counts. GPT, Megatron: arXiv 2205.05198's dimensions, 2048
    // positions.
    const Row row =
        GENERATE(Row{"gpt3-175b", 174'615'846'912}, Row{"megatron-22b", 22'074'273'792},
                 Row{"mt-nlg-530b", 529'600'819'200}, Row{"megatron-1t", 1'008'038'758'400},
                 Row{"llama2-7b", 6'738'415'616}, Row{"llama2-13b", 13'015'864'320},
                 Row{"llama2-70b", 68'976'648'192}, Row{"llama3-8b", 8'030'261'248},
                 Row{"llama3-70b", 70'553'706'496}, Row{"llama3.1-8b", 8'030'261'248},
                 Row{"llama3.1-70b", 70'553'706'496}, Row{"llama3.1-405b", 405'853'388'800},
                 Row{"qwen2.5-7b", 7'615'616'512}, Row{"qwen2.5-14b", 14'770'033'664},
                 Row{"qwen2.5-32b", 32'763'876'352}, Row{"qwen2.5-72b", 72'706'203'648},
                 Row{"qwen3-8b", 8'190'735'360}, Row{"qwen3-14b", 14'768'307'200},
                 Row{"qwen3-32b", 32'762'123'264});
    INFO(row.name);
    CHECK(total_parameters(shipped_model(row.name)) == row.parameters);
}

TEST_CASE("MPT has 50368h + s·h + L(12h² + 9h) + (2L+1)·2h parameters with s positions") {
    // llm-foundry scripts/train/benchmarking.
    const std::string name = GENERATE("mpt-125m", "mpt-350m", "mpt-760m", "mpt-1b", "mpt-3b",
                                      "mpt-7b", "mpt-13b", "mpt-30b", "mpt-70b");
    const std::int64_t s = GENERATE(512, 2048, 65536);
    Transformer model = shipped_model(name);
    CHECK(model.max_positions == 2048);
    model.max_positions = s;
    const std::int64_t h = model.hidden;
    const std::int64_t layers = model.layers;
    INFO(name);
    CHECK(total_parameters(model) ==
          50368 * h + s * h + layers * (12 * h * h + 9 * h) + (2 * layers + 1) * 2 * h);
}

TEST_CASE("the parts of Llama 3.1 8B: 218,112,000 a layer, equal embedding and output") {
    const Transformer model = shipped_model("llama3.1-8b");
    CHECK(layer_parameters(model) == 218'112'000);
    CHECK(embedding_parameters(model) == 128'256LL * 4096);
    CHECK(output_parameters(model) == 128'256LL * 4096);
    CHECK(final_norm_parameters(model) == 4096);
}

TEST_CASE("tied embeddings add no output parameters") {
    CHECK(output_parameters(shipped_model("gpt3-175b")) == 0);
}

TEST_CASE("the vocabulary is padded to a multiple of vocab_divisible_by times tensor") {
    Transformer model;
    model.vocab = 50257;
    model.vocab_divisible_by = 128;
    CHECK(padded_vocab(model, 8) == 51200);
    CHECK(padded_vocab(model, 1) == 50304);
    model.vocab_divisible_by = 1;
    CHECK(padded_vocab(model, 1) == 50257);
    CHECK(padded_vocab(model, 8) == 50264);
    CHECK(padded_vocab(shipped_model("llama3.1-405b"), 8) == 128256);
}

TEST_CASE("a window on every second layer starts with layer 0") {
    Transformer model;
    CHECK_FALSE(has_window(model, 0));
    model.sliding_window = 128;
    CHECK(has_window(model, 0));
    CHECK(has_window(model, 1));
    model.window_every = 2;
    CHECK(has_window(model, 0));
    CHECK_FALSE(has_window(model, 1));
    CHECK(has_window(model, 2));
}

TEST_CASE("every preset is whole: consistent widths, a name, a summary and a source") {
    const auto names = shipped_model_names();
    const std::set<std::string> present(names.begin(), names.end());
    CHECK(present.size() == names.size());
    CHECK(present.count("mpt-1b") == 1);
    for (const std::string& name : names) {
        INFO(name);
        CHECK(shipped_text(name, "name") == name);
        CHECK_FALSE(shipped_text(name, "summary").empty());
        CHECK_FALSE(shipped_text(name, "source").empty());
        const Transformer model = shipped_model(name);
        CHECK(model.layers > 0);
        CHECK(model.kv_heads > 0);
        CHECK(model.heads % model.kv_heads == 0);
        CHECK((model.position == PositionKind::Learned) == (model.max_positions > 0));
    }
}
