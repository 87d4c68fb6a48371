// SPDX-License-Identifier: Apache-2.0
// What a layer, the embedding and the head keep for their backward.
#include "model/operators.hpp"
#include "preset_text.hpp"
#include "tests/catch.hpp"

#include <algorithm>
#include <vector>

using namespace orrery;  // NOLINT(google-build-using-namespace)

namespace {

LocalShape shape_of(const Transformer& model, std::int64_t s, std::int64_t b, std::int64_t t,
                    bool sequence_parallel) {
    return {.batch = b,
            .sequence = s,
            .tensor = t,
            .padded_vocab = padded_vocab(model, t),
            .sequence_parallel = sequence_parallel};
}

std::int64_t layer_bytes(const Transformer& model, const Training& training,
                         const LocalShape& shape) {
    return saved_bytes(layer_operators(model, training, shape, 0), shape);
}

/// What selective recomputation drops.
std::int64_t core_bytes(const std::vector<Operator>& operators, const LocalShape& shape) {
    std::int64_t bytes = 0;
    for (const Operator& op : operators) {
        for (const SavedTensor& tensor : op.saved) {
            bytes += tensor.is_core_attention ? local_bytes(tensor.bytes, tensor.region, shape) : 0;
        }
    }
    return bytes;
}

Training unfused() {
    Training training;
    training.precision = Precision::Fp16;
    training.attention = AttentionImpl::Unfused;
    return training;
}

}  // namespace

TEST_CASE("bytes per token and layer with flash attention and without dropout") {
    // Megatron-Core with Transformer Engine: 8h + 4(a+g)d + 6f + 4a + 8 (SwiGLU, RMSNorm),
    // 4f for GELU's 6f, 8 more for LayerNorm.
    struct Row {
        const char* name;
        std::int64_t bytes;
    };

    const Row row = GENERATE(Row{"gpt3-175b", 393'616}, Row{"llama2-7b", 131'720},
                             Row{"llama2-70b", 274'696}, Row{"llama3-70b", 274'696},
                             Row{"llama3-8b", 139'400}, Row{"llama3.1-405b", 520'712},
                             Row{"qwen2.5-72b", 280'072}, Row{"qwen3-32b", 231'688});
    Transformer model = shipped_model(row.name);
    model.dropout = 0.0;
    INFO(row.name);
    const LocalShape shape = shape_of(model, 512, 2, 1, false);
    CHECK(layer_bytes(model, Training{}, shape) == 1024 * row.bytes);

    // With sequence parallelism every tensor of the list is divided.
    const LocalShape parallel = shape_of(model, 512, 2, 8, true);
    CHECK(layer_bytes(model, Training{}, parallel) == 128 * row.bytes);
}

TEST_CASE("Llama 3 8B keeps 1.064 GiB per layer at s = 8192") {
    const Transformer model = shipped_model("llama3-8b");
    const double bytes =
        static_cast<double>(layer_bytes(model, Training{}, shape_of(model, 8192, 1, 1, false)));
    CHECK(bytes / 1073741824.0 == Approx(1.064).margin(0.0005));
}

TEST_CASE("without sequence parallelism norms' tensors stay whole on every rank") {
    const Transformer model = shipped_model("llama3-8b");
    const std::int64_t whole = 8 * 4096 + 8;
    CHECK(layer_bytes(model, Training{}, shape_of(model, 1024, 1, 8, false)) ==
          1024 * (whole + (139'400 - whole) / 8));
}

TEST_CASE("flash attention with dropout keeps two masks more, one byte an element") {
    Transformer model = shipped_model("gpt3-175b");
    CHECK(model.dropout > 0.0);
    CHECK(layer_bytes(model, Training{}, shape_of(model, 2048, 1, 1, false)) ==
          2048 * (393'616 + 2 * 12288));
}

TEST_CASE("unfused attention: s·b·h(34 + 5as/h), 10 + 24/t with tensor parallelism") {
    // Korthikanti et al., arXiv 2205.05198 equations 1, 2 and 4: fp16, dropout, GELU 4h.
    const Transformer model =
        shipped_model(GENERATE("megatron-22b", "gpt3-175b", "mt-nlg-530b", "megatron-1t"));
    INFO(model.name);
    const std::int64_t s = 2048;
    const std::int64_t b = GENERATE(1, 4);
    const std::int64_t t = 8;
    const std::int64_t sbh = s * b * model.hidden;
    const std::int64_t scores = 5 * model.heads * s * s * b;
    CHECK(layer_bytes(model, unfused(), shape_of(model, s, b, 1, false)) == 34 * sbh + scores);
    CHECK(layer_bytes(model, unfused(), shape_of(model, s, b, t, false)) ==
          10 * sbh + 24 * sbh / t + scores / t);
    CHECK(layer_bytes(model, unfused(), shape_of(model, s, b, t, true)) == (34 * sbh + scores) / t);
    for (const bool sequence_parallel : {false, true}) {
        const LocalShape shape = shape_of(model, s, b, t, sequence_parallel);
        CHECK(core_bytes(layer_operators(model, unfused(), shape, 0), shape) == scores / t);
    }
}

TEST_CASE("unfused attention of a first stage sums to the published GiB") {
    // arXiv 2205.05198: TP, TP + SP, TP + SP + selective; L layers in flight, interleaving adds
    // (p−1)/(pv).
    struct Row {
        const char* name;
        std::int64_t b;
        double interleaving;
        double tensor, sequence, selective;
    };

    const Row row = GENERATE(Row{"megatron-22b", 4, 1.0, 59.25, 39.56, 9.56},
                             Row{"gpt3-175b", 1, 1.0 + 7.0 / 24.0, 66.84, 41.41, 12.35},
                             Row{"mt-nlg-530b", 1, 1.0 + 34.0 / 105.0, 114.02, 66.51, 23.08},
                             Row{"megatron-1t", 1, 1.0, 131.25, 76.56, 26.56});
    INFO(row.name);
    const Transformer model = shipped_model(row.name);
    const double gib = static_cast<double>(model.layers) * row.interleaving / 1073741824.0;
    const LocalShape plain = shape_of(model, 2048, row.b, 8, false);
    const LocalShape parallel = shape_of(model, 2048, row.b, 8, true);
    const auto operators = layer_operators(model, unfused(), parallel, 0);
    const double all = static_cast<double>(saved_bytes(operators, parallel));
    const double core = static_cast<double>(core_bytes(operators, parallel));
    CHECK(gib * static_cast<double>(layer_bytes(model, unfused(), plain)) ==
          Approx(row.tensor).margin(0.0051));
    CHECK(gib * all == Approx(row.sequence).margin(0.0051));
    CHECK(gib * (all - core) == Approx(row.selective).margin(0.0051));
}

TEST_CASE("unfused attention without dropout keeps the probabilities only") {
    Transformer model = shipped_model("megatron-22b");
    model.dropout = 0.0;
    const LocalShape shape = shape_of(model, 2048, 1, 1, false);
    CHECK(core_bytes(layer_operators(model, unfused(), shape, 0), shape) == 2LL * 64 * 2048 * 2048);
    CHECK(layer_bytes(model, unfused(), shape) == 32LL * 2048 * 6144 + 2LL * 64 * 2048 * 2048);
}

TEST_CASE("the embedding keeps ids of 8 bytes and a dropout mask in the sequence region") {
    const Transformer llama = shipped_model("llama3-8b");
    const LocalShape shape = shape_of(llama, 8192, 1, 1, false);
    CHECK(saved_bytes(embedding_operators(llama, Training{}, shape), shape) == 8 * 8192);

    const Transformer gpt = shipped_model("gpt3-175b");
    const LocalShape parallel = shape_of(gpt, 2048, 1, 8, true);
    // Learned positions have ids, too.
    CHECK(saved_bytes(embedding_operators(gpt, Training{}, parallel), parallel) ==
          (8 + 8) * 2048 + 2048 * 12288 / 8);
}

TEST_CASE("the head keeps 4sbh/t and 4 bytes a logit, and 9 a token where labels are looked up") {
    // arXiv 2205.05198 §4.3; Megatron-LM core/tensor_parallel/cross_entropy.py.
    const Transformer model = shipped_model("gpt3-175b");
    const LocalShape shape = shape_of(model, 2048, 1, 8, true);
    const std::int64_t sb = 2048;
    Training training = unfused();
    const std::int64_t paper = 4 * sb * 12288 / 8 + 4 * sb * 51200 / 8;
    training.cross_entropy = GENERATE(CrossEntropy::Unfused, CrossEntropy::Fused);
    CHECK(saved_bytes(head_operators(model, training, shape), shape) == paper + 9 * sb);
    training.cross_entropy = CrossEntropy::VocabParallel;
    CHECK(saved_bytes(head_operators(model, training, shape), shape) == paper);
}

TEST_CASE("local bytes follow the region") {
    LocalShape shape{.tensor = 4, .sequence_parallel = false};
    CHECK(local_bytes(800, Region::Tensor, shape) == 200);
    CHECK(local_bytes(800, Region::Sequence, shape) == 800);
    CHECK(local_bytes(800, Region::Replicated, shape) == 800);
    shape.sequence_parallel = true;
    CHECK(local_bytes(800, Region::Sequence, shape) == 200);
    CHECK(local_bytes(800, Region::Replicated, shape) == 800);
}
