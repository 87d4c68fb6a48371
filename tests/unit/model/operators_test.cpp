// SPDX-License-Identifier: Apache-2.0
// Which kernels and weights the operators list, in what shape.
#include "model/operators.hpp"

#include "preset_text.hpp"
#include "tests/catch.hpp"

#include <algorithm>
#include <string>
#include <vector>

using namespace orrery;  // NOLINT(google-build-using-namespace)

namespace {

std::vector<std::string> names(const std::vector<KernelSpec>& kernels) {
    std::vector<std::string> result;
    for (const KernelSpec& kernel : kernels) {
        result.push_back(kernel_name(kernel));
    }
    return result;
}

std::vector<std::string> names(const std::vector<Operator>& operators) {
    std::vector<std::string> result;
    for (const Operator& op : operators) {
        result.push_back(op.name);
    }
    return result;
}

const Operator& find(const std::vector<Operator>& operators, const std::string& name) {
    const auto found = std::find_if(operators.begin(), operators.end(),
                                    [&](const Operator& op) { return op.name == name; });
    REQUIRE(found != operators.end());
    return *found;
}

using Names = std::vector<std::string>;

LocalShape llama_shape(std::int64_t t, bool sequence_parallel) {
    return {.batch = 1,
            .sequence = 8192,
            .tensor = t,
            .padded_vocab = 128256,
            .sequence_parallel = sequence_parallel};
}

}  // namespace

TEST_CASE("a Llama layer runs eleven operators, a GPT layer with unfused attention thirteen") {
    const Transformer llama = shipped_model("llama3.1-70b");
    CHECK(names(layer_operators(llama, Training{}, llama_shape(1, false), 0)) ==
          Names{"input_norm", "qkv", "rotary", "core_attention", "output_projection",
                "attention_residual", "mlp_norm", "mlp_up", "activation", "mlp_down",
                "mlp_residual"});
    const Transformer qwen = shipped_model("qwen3-8b");
    const LocalShape qwen_shape{.sequence = 4096, .padded_vocab = 151936};
    CHECK(names(layer_operators(qwen, Training{}, qwen_shape, 0))[2] == "qk_norm");

    const Transformer gpt = shipped_model("gpt3-175b");
    Training training;
    training.attention = AttentionImpl::Unfused;
    const LocalShape shape{.sequence = 2048, .padded_vocab = 51200};
    CHECK(names(layer_operators(gpt, training, shape, 0)) ==
          Names{"input_norm", "qkv", "attention_scores", "attention_softmax", "attention_dropout",
                "attention_context", "output_projection", "attention_residual", "mlp_norm",
                "mlp_up", "activation", "mlp_down", "mlp_residual"});
}

TEST_CASE("Llama 3.1 70B, t = 8: the products of a layer in a rank's shape") {
    // h 8192, a 64, g 8, d 128, f 28672: qkv (64+16)·128/8 = 1280, gate and up 2·28672/8 = 7168.
    const Transformer model = shipped_model("llama3.1-70b");
    const auto operators = layer_operators(model, Training{}, llama_shape(8, true), 0);
    const Operator& qkv = find(operators, "qkv");
    CHECK(names(qkv.forward) == Names{"gemm 8192x1280x8192 bf16 TN"});
    CHECK(names(qkv.input_gradient) ==
          Names{"copy bwd 8192x1280 bf16", "gemm 8192x8192x1280 bf16 NN"});
    CHECK(names(qkv.weight_gradient) == Names{"gemm 1280x8192x8192 bf16 NT accumulate"});
    const Operator& projection = find(operators, "output_projection");
    CHECK(names(projection.forward) == Names{"gemm 8192x8192x1024 bf16 TN"});
    CHECK(names(projection.input_gradient) == Names{"gemm 8192x1024x8192 bf16 NN"});
    CHECK(names(projection.weight_gradient) == Names{"gemm 8192x1024x8192 bf16 NT accumulate"});
    CHECK(names(find(operators, "mlp_up").forward) == Names{"gemm 8192x7168x8192 bf16 TN"});
    CHECK(names(find(operators, "mlp_down").forward) == Names{"gemm 8192x8192x3584 bf16 TN"});
    CHECK(names(find(operators, "core_attention").forward) ==
          Names{"copy fwd 8192x128 bf16", "attention fwd b1 s8192 h8/1 d128 causal bf16"});
    CHECK(names(find(operators, "core_attention").input_gradient) ==
          Names{"attention bwd b1 s8192 h8/1 d128 causal bf16"});
    CHECK(find(operators, "core_attention").weight_gradient.empty());
}

TEST_CASE("sequence parallelism divides the rows of norms and residuals and nothing else") {
    const Transformer model = shipped_model("llama3.1-70b");
    const auto plain = layer_operators(model, Training{}, llama_shape(8, false), 0);
    const auto parallel = layer_operators(model, Training{}, llama_shape(8, true), 0);
    REQUIRE(plain.size() == parallel.size());
    for (std::size_t i = 0; i < plain.size(); ++i) {
        INFO(plain[i].name);
        CHECK((plain[i].forward == parallel[i].forward) ==
              (plain[i].split != TensorSplit::Sequence));
    }
    CHECK(names(find(plain, "mlp_norm").forward) == Names{"rms_norm fwd 8192x8192 bf16"});
    CHECK(names(find(parallel, "mlp_norm").forward) == Names{"rms_norm fwd 1024x8192 bf16"});
    CHECK(names(find(parallel, "attention_residual").forward) ==
          Names{"residual_add fwd 1024x8192 bf16"});
}

TEST_CASE("memory-bound kernels move each operand once") {
    const Transformer model = shipped_model("llama3.1-8b");
    const auto operators = layer_operators(model, Training{}, llama_shape(1, false), 0);
    const double th = 8192.0 * 4096;
    const double tf = 8192.0 * 14336;
    const auto traffic = [](const KernelSpec& kernel) {
        return std::pair(kernel_bytes_read(kernel).si(), kernel_bytes_written(kernel).si());
    };
    const Operator& activation = find(operators, "activation");
    CHECK(traffic(activation.forward[0]) == std::pair(4 * tf, 2 * tf));
    CHECK(traffic(activation.input_gradient[0]) == std::pair(6 * tf, 4 * tf));
    const Operator& norm = find(operators, "input_norm");
    CHECK(traffic(norm.forward[0]) == std::pair(2 * th + 2 * 4096, 2 * th + 4 * 8192));
    CHECK(traffic(norm.input_gradient[1]) == std::pair(4 * th, 2 * th));
    const Operator& residual = find(operators, "mlp_residual");
    CHECK(traffic(residual.forward[0]) == std::pair(4 * th, 2 * th));
    CHECK(residual.input_gradient.empty());
}

TEST_CASE("fp32 main gradients are accumulated, other recipes write a gradient") {
    const Transformer model = shipped_model("gpt3-175b");
    const LocalShape shape{.sequence = 2048, .padded_vocab = 51200};
    Training training;
    CHECK(names(find(layer_operators(model, training, shape, 0), "mlp_down").weight_gradient) ==
          Names{"gemm 12288x49152x2048 bf16 NT accumulate", "bias_grad bwd 2048x12288 bf16",
                "gradient_add bwd 1x12288 bf16"});
    training.recipe = GENERATE(Recipe::Fp32Params, Recipe::Classic, Recipe::Pure);
    CHECK(names(find(layer_operators(model, training, shape, 0), "mlp_down").weight_gradient) ==
          Names{"gemm 12288x49152x2048 bf16 NT", "bias_grad bwd 2048x12288 bf16"});
}

TEST_CASE("unfused attention is four products backward, two forward, in one batch a head") {
    const Transformer model = shipped_model("gpt3-175b");
    Training training;
    training.precision = Precision::Fp16;
    training.attention = AttentionImpl::Unfused;
    const LocalShape shape{.batch = 2, .sequence = 2048, .tensor = 8, .padded_vocab = 51200};
    const auto operators = layer_operators(model, training, shape, 0);
    CHECK(names(find(operators, "attention_scores").forward) ==
          Names{"gemm 24 of 2048x2048x128 fp16 TN"});
    CHECK(names(find(operators, "attention_context").forward) ==
          Names{"gemm 24 of 2048x128x2048 fp16 NN", "copy fwd 4096x1536 fp16"});
    CHECK(names(find(operators, "attention_context").input_gradient) ==
          Names{"gemm 24 of 2048x2048x128 fp16 TN", "gemm 24 of 2048x128x2048 fp16 NT"});
    CHECK(names(find(operators, "attention_scores").input_gradient) ==
          Names{"gemm 24 of 2048x128x2048 fp16 NN", "gemm 24 of 2048x128x2048 fp16 NT"});
    CHECK(names(find(operators, "attention_softmax").forward) ==
          Names{"scaled_masked_softmax fwd 49152x2048 fp16"});
}

TEST_CASE("GPT-3's first of 8 stages at t = 8 holds 2,822,731,776 parameters") {
    // 12 layers, vocabulary/8 and positions; column-parallel biases are split, others and norms are
    // not.
    const Transformer model = shipped_model("gpt3-175b");
    const LocalShape shape{.sequence = 2048, .tensor = 8, .padded_vocab = padded_vocab(model, 8)};
    CHECK(local_parameters(embedding_operators(model, Training{}, shape), shape) +
              12 * local_parameters(layer_operators(model, Training{}, shape, 0), shape) ==
          2'822'731'776);
}

TEST_CASE("the operators' weights are the model's parameters") {
    for (const std::string& name : shipped_model_names()) {
        const Transformer model = shipped_model(name);
        const LocalShape shape{.sequence = 64, .padded_vocab = padded_vocab(model, 1)};
        std::int64_t elements = 0;
        const auto add = [&](const std::vector<Operator>& operators, std::int64_t times) {
            for (const Operator& op : operators) {
                for (const Weight& weight : op.weights) {
                    elements += times * weight.elements;
                }
            }
        };
        add(embedding_operators(model, Training{}, shape), 1);
        add(layer_operators(model, Training{}, shape, 0), model.layers);
        add(head_operators(model, Training{}, shape), 1);
        INFO(name);
        CHECK(elements == total_parameters(model));
    }
}

TEST_CASE("a rank holds its share of the padded vocabulary") {
    Transformer model = shipped_model("llama2-7b");
    model.vocab_divisible_by = 128;
    const LocalShape shape{.sequence = 64, .tensor = 8, .padded_vocab = padded_vocab(model, 8)};
    CHECK(shape.padded_vocab == 32768);
    CHECK(local_parameters(embedding_operators(model, Training{}, shape), shape) == 4096 * 4096);
    CHECK(local_parameters(head_operators(model, Training{}, shape), shape) == 4096 + 4096 * 4096);
}

TEST_CASE("the embedding has no product and no input gradient") {
    const Transformer model = shipped_model("llama3.1-8b");
    const auto operators = embedding_operators(model, Training{}, llama_shape(8, true));
    REQUIRE(operators.size() == 1);
    CHECK(operators[0].split == TensorSplit::Vocabulary);
    CHECK(names(operators[0].forward) ==
          Names{"embedding fwd 8192x4096 bf16", "masked_fill fwd 8192x4096 bf16"});
    CHECK(operators[0].input_gradient.empty());
    CHECK(operators[0].output_is_kept);

    const LocalShape shape{.sequence = 2048, .padded_vocab = 51200};
    const auto gpt = embedding_operators(shipped_model("gpt3-175b"), Training{}, shape);
    CHECK(names(gpt) == Names{"word_embedding", "position_embedding", "embedding_dropout"});
    CHECK_FALSE(gpt[0].output_is_kept);
    CHECK(gpt[2].output_is_kept);
}

TEST_CASE("the loss reads bf16 logits of [T, V/t] and leaves bf16 gradients") {
    const Transformer model = shipped_model("llama3.1-8b");
    Training training;
    training.cross_entropy =
        GENERATE(CrossEntropy::Unfused, CrossEntropy::Fused, CrossEntropy::VocabParallel);
    const auto head = head_operators(model, training, llama_shape(8, true));
    CHECK(names(head) == Names{"final_norm", "vocab_projection", "cross_entropy"});
    CHECK(head[1].output_bytes == 2LL * 8192 * 128256);
    CHECK(head[1].output_region == Region::Tensor);
    CHECK(names(head[1].forward) == Names{"gemm 8192x16032x4096 bf16 TN"});
    const double logits = 8192.0 * 16032;
    const Operator& loss = head[2];
    CHECK(kernel_bytes_read(loss.forward.front()).si() == 2 * logits);
    CHECK(kernel_bytes_written(loss.input_gradient.back()).si() == 2 * logits);
    CHECK(loss.weight_gradient.empty());
}

TEST_CASE("an output that is kept is what a later operator, or the next layer, saves") {
    Training training;
    training.attention = GENERATE(AttentionImpl::Flash, AttentionImpl::Unfused);
    for (const std::string& name : shipped_model_names()) {
        const Transformer model = shipped_model(name);
        const LocalShape shape{.batch = 2, .sequence = 64, .padded_vocab = padded_vocab(model, 1)};
        auto operators = layer_operators(model, training, shape, 0);
        operators.push_back(layer_operators(model, training, shape, 1).front());
        for (std::size_t i = 0; i + 1 < operators.size(); ++i) {
            const Operator& op = operators[i];
            // q, k and v leave their operators as one output and are saved one by one.
            if (op.kind == OperatorKind::Rotary || op.kind == OperatorKind::QkvProjection) {
                continue;
            }
            bool is_saved = false;
            for (std::size_t j = i; j < operators.size(); ++j) {
                for (const SavedTensor& tensor : operators[j].saved) {
                    is_saved = is_saved || (tensor.bytes == op.output_bytes &&
                                            tensor.region == op.output_region);
                }
            }
            INFO(name << " " << op.name);
            CHECK((!op.output_is_kept || is_saved));
        }
    }
}

TEST_CASE("the packed qkv product is kept where attention reads it, and freed where it is copied") {
    const LocalShape shape{.batch = 2, .sequence = 64, .padded_vocab = 51200};
    const auto saved_qkv = [](const std::vector<Operator>& operators, std::size_t tensors) {
        const Operator& core = find(operators, "core_attention");
        std::int64_t bytes = 0;
        for (std::size_t i = 0; i < tensors; ++i) {
            bytes += core.saved[i].bytes;
        }
        return bytes;
    };
    const auto gpt = layer_operators(shipped_model("gpt3-175b"), Training{}, shape, 0);
    CHECK(find(gpt, "qkv").output_is_kept);
    CHECK(find(gpt, "qkv").output_bytes == saved_qkv(gpt, 3));
    const auto llama = layer_operators(shipped_model("llama2-7b"), Training{}, shape, 0);
    CHECK_FALSE(find(llama, "qkv").output_is_kept);
    CHECK(find(llama, "rotary").output_is_kept);
    CHECK(find(llama, "rotary").output_bytes == saved_qkv(llama, 2));
}
