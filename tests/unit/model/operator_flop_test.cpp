// SPDX-License-Identifier: Apache-2.0
// The FLOP of the kernels that are listed equal the model's analytic FLOP, exactly.
#include "model/flop_count.hpp"
#include "model/operators.hpp"
#include "preset_text.hpp"
#include "tests/catch.hpp"

#include <vector>

using namespace orrery;  // NOLINT(google-build-using-namespace)

namespace {

double kernels_flop(const std::vector<Operator>& operators) {
    double flop = 0.0;
    for (const Operator& op : operators) {
        for (const auto* kernels : {&op.forward, &op.input_gradient, &op.weight_gradient}) {
            for (const KernelSpec& kernel : *kernels) {
                flop += kernel_flop(kernel).si();
            }
        }
    }
    return flop;
}

/// Forward and backward of one micro-batch through the whole model on one rank.
double rank_flop(const Transformer& model, const Training& training, const LocalShape& shape) {
    double flop = kernels_flop(embedding_operators(model, training, shape));
    for (std::int64_t layer = 0; layer < model.layers; ++layer) {
        flop += kernels_flop(layer_operators(model, training, shape, layer));
    }
    return flop + kernels_flop(head_operators(model, training, shape));
}

}  // namespace

TEST_CASE("kernels of forward, input and weight gradient sum to Megatron's model FLOP exactly") {
    // With flash attention, and t times the sum of one of t ranks, with and without sequence
    // parallelism.
    for (const std::string& name : shipped_model_names()) {
        Transformer model = shipped_model(name);
        for (const std::int64_t t : {1, 2, 4, 8}) {
            if (model.kv_heads % t != 0) {
                continue;
            }
            model.vocab_divisible_by = 128;
            const LocalShape shape{.batch = 2,
                                   .sequence = 4096,
                                   .tensor = t,
                                   .padded_vocab = padded_vocab(model, t),
                                   .sequence_parallel = t == 4};
            INFO(name << " t=" << t);
            CHECK(static_cast<double>(t) * rank_flop(model, Training{}, shape) ==
                  megatron_flop(model, 4096, 2, shape.padded_vocab).si());
        }
    }
}

TEST_CASE("with windows, kernels sum to Megatron-Bridge's model FLOP exactly") {
    Transformer model = shipped_model("llama3.1-8b");
    model.sliding_window = 512;
    model.window_every = GENERATE(1, 2, 3);
    const LocalShape shape{.batch = 1, .sequence = 8192, .tensor = 2, .padded_vocab = model.vocab};
    CHECK(2.0 * rank_flop(model, Training{}, shape) ==
          training_flop(FlopConvention::MegatronWindow, model, 8192, 1, model.vocab).si());
}

TEST_CASE("unfused attention multiplies masked pairs, too: the 2021 formula exactly, for GPT") {
    // 72BsLh²(1 + s/6h + V/12Lh) counts full attention, as those kernels compute it.
    const Transformer model =
        shipped_model(GENERATE("megatron-22b", "gpt3-175b", "mt-nlg-530b", "megatron-1t"));
    Training training;
    training.attention = AttentionImpl::Unfused;
    const LocalShape shape{.batch = 1, .sequence = 2048, .tensor = 8, .padded_vocab = 51200};
    INFO(model.name);
    CHECK(8.0 * rank_flop(model, training, shape) ==
          training_flop(FlopConvention::Megatron2021, model, 2048, 1, 51200).si());
}

TEST_CASE("unfused attention of grouped heads computes each query head, windows or not") {
    Transformer model = shipped_model("llama3.1-8b");
    model.sliding_window = 128;
    Training training;
    const LocalShape shape{.batch = 1, .sequence = 1024, .tensor = 1, .padded_vocab = model.vocab};
    const double windowed_flash = kernels_flop(layer_operators(model, training, shape, 0));
    model.sliding_window = 0;
    const double flash = kernels_flop(layer_operators(model, training, shape, 0));
    model.sliding_window = 128;
    training.attention = AttentionImpl::Unfused;
    const double unfused = kernels_flop(layer_operators(model, training, shape, 0));
    CHECK(windowed_flash < flash);
    CHECK(unfused - flash ==
          6.0 * 4096 * 1024 * 1024);  // the other half of a·d·s² in 3 · 2 products
}

TEST_CASE("backward is two thirds of a layer's products: attention's all in the input gradient") {
    const Transformer model = shipped_model("llama3.1-8b");
    const LocalShape shape{.batch = 1, .sequence = 8192, .tensor = 1, .padded_vocab = model.vocab};
    double forward = 0.0;
    double input_gradient = 0.0;
    double weight_gradient = 0.0;
    double attention = 0.0;
    for (const Operator& op : layer_operators(model, Training{}, shape, 0)) {
        for (const KernelSpec& kernel : op.forward) {
            forward += kernel_flop(kernel).si();
            attention += op.kind == OperatorKind::CoreAttention ? kernel_flop(kernel).si() : 0.0;
        }
        for (const KernelSpec& kernel : op.input_gradient) {
            input_gradient += kernel_flop(kernel).si();
        }
        for (const KernelSpec& kernel : op.weight_gradient) {
            weight_gradient += kernel_flop(kernel).si();
        }
    }
    CHECK(attention == 2.0 * 4096 * 8192 * 8192);
    CHECK(input_gradient == forward + attention);
    CHECK(weight_gradient == forward - attention);
}
