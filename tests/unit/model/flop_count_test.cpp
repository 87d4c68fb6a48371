// SPDX-License-Identifier: Apache-2.0
#include "model/flop_count.hpp"

#include "preset_text.hpp"
#include "tests/catch.hpp"

#include <cmath>

using namespace orrery;  // NOLINT(google-build-using-namespace)

namespace {

/// GFLOP per token of training with the unpadded vocabulary, rounded to `decimals`.
double gflop_per_token(FlopConvention convention, const Transformer& model, std::int64_t s,
                       int decimals) {
    const double flop = training_flop(convention, model, s, 1, model.vocab).si();
    const double scale = std::pow(10.0, decimals);
    return std::round(flop / static_cast<double>(s) / 1e9 * scale) / scale;
}

/// `value` to seven significant digits.
double seven_digits(double value) {
    const double scale = std::pow(10.0, 6.0 - std::floor(std::log10(value)));
    return std::round(value * scale) / scale;
}

}  // namespace

TEST_CASE("GFLOP per token of each convention, to the published digit") {
    // Megatron-LM, torchtitan, llm-foundry and 6·N; GPT with s = 2048, the others with 4096.
    struct Row {
        const char* name;
        std::int64_t s;
        int decimals;
        double megatron, torchtitan, llm_foundry, six_n;
    };

    const Row row = GENERATE(Row{"gpt3-175b", 2048, 2, 1061.95, 1076.69, 1076.69, 1047.70},
                             Row{"llama2-7b", 4096, 3, 42.864, 46.087, 46.873, 40.430},
                             Row{"llama2-70b", 4096, 3, 428.385, 444.499, 446.072, 413.860},
                             Row{"llama3.1-8b", 4096, 3, 48.249, 51.472, 54.624, 48.182},
                             Row{"llama3.1-70b", 4096, 3, 433.116, 449.230, 455.534, 423.322},
                             Row{"llama3.1-405b", 4096, 2, 2473.22, 2523.98, 2536.59, 2435.12});
    INFO(row.name);
    const Transformer model = shipped_model(row.name);
    const auto of = [&](FlopConvention convention) {
        return gflop_per_token(convention, model, row.s, row.decimals);
    };
    CHECK(of(FlopConvention::Megatron) == Approx(row.megatron).epsilon(1e-9));
    CHECK(of(FlopConvention::Torchtitan) == Approx(row.torchtitan).epsilon(1e-9));
    CHECK(of(FlopConvention::LlmFoundry) == Approx(row.llm_foundry).epsilon(1e-9));
    const double scale = std::pow(10.0, row.decimals);
    const double six_n = 6.0 * static_cast<double>(total_parameters(model)) / 1e9;
    CHECK(std::round(six_n * scale) / scale == Approx(row.six_n).epsilon(1e-9));
}

TEST_CASE(
    "GPT-3, 1536 sequences of 2048: 3.386197e18 by the 2021 formula, 3.340598e18 by today's") {
    const Transformer gpt = shipped_model("gpt3-175b");
    CHECK(seven_digits(training_flop(FlopConvention::Megatron2021, gpt, 2048, 1536, 51200).si()) ==
          Approx(3.386197e18).epsilon(1e-12));
    CHECK(seven_digits(training_flop(FlopConvention::Megatron, gpt, 2048, 1536, 51200).si()) ==
          Approx(3.340598e18).epsilon(1e-12));
}

TEST_CASE("Llama 3.1 8B, 128 sequences of 8192: 5.397063e16") {
    const Transformer llama = shipped_model("llama3.1-8b");
    CHECK(seven_digits(megatron_flop(llama, 8192, 128, 128256).si()) ==
          Approx(5.397063e16).epsilon(1e-12));
}

TEST_CASE("the 2021 formulas are 72 and 96·BsLh²·(1 + s/6h + V/12Lh and V/16Lh)") {
    // arXiv 2104.04473: B sequences, full attention, an MLP of 4h.
    const Transformer gpt = shipped_model("megatron-22b");
    const double b = 4.0;
    const double s = 2048.0;
    const double l = 48.0;
    const double h = 6144.0;
    const double v = 51200.0;
    CHECK(training_flop(FlopConvention::Megatron2021, gpt, 2048, 4, 51200).si() ==
          Approx(72 * b * s * l * h * h * (1 + s / (6 * h) + v / (12 * l * h))).epsilon(1e-12));
    CHECK(training_flop(FlopConvention::Megatron2021Hardware, gpt, 2048, 4, 51200).si() ==
          Approx(96 * b * s * l * h * h * (1 + s / (6 * h) + v / (16 * l * h))).epsilon(1e-12));
}

TEST_CASE("PaLM's model FLOP per token are 6N + 12·L·heads·d·s") {
    const Transformer qwen = shipped_model("qwen3-32b");
    CHECK(palm_flop(qwen, 4096, 1).si() ==
          Approx(4096 * (6.0 * 32'762'123'264 + 12.0 * 64 * 64 * 128 * 4096)).epsilon(1e-12));
}

TEST_CASE("NeMo's formulas agree with Megatron's where heads·d = h, and for GPT with f = 4h") {
    // Both count half of causal attention and the same products; NeMo writes a·d as h.
    const std::string name = GENERATE("gpt3-175b", "llama2-7b", "llama3.1-8b", "llama3.1-405b");
    const Transformer model = shipped_model(name);
    INFO(name);
    CHECK(training_flop(FlopConvention::Nemo, model, 4096, 2, model.vocab).si() ==
          Approx(megatron_flop(model, 4096, 2, model.vocab).si()).epsilon(1e-12));
}

TEST_CASE("a window changes MEGATRON_WINDOW on its layers only, and MEGATRON never") {
    // Mean context of a window of w positions: w − w(w−1)/(2s).
    Transformer model = shipped_model("llama3.1-8b");
    const double s = 8192.0;
    const double full = megatron_flop(model, 8192, 1, model.vocab).si();
    model.sliding_window = 128;
    model.window_every = 2;
    CHECK(megatron_flop(model, 8192, 1, model.vocab).si() == full);
    const double context = 128.0 - 128.0 * 127.0 / (2.0 * s);
    const double saved = 16.0 * 12.0 * 4096.0 * s * (s / 2.0 - context);
    CHECK(training_flop(FlopConvention::MegatronWindow, model, 8192, 1, model.vocab).si() ==
          Approx(full - saved).epsilon(1e-12));
}

TEST_CASE("a padded vocabulary counts in Megatron's formula") {
    const Transformer gpt = shipped_model("gpt3-175b");
    const double more =
        megatron_flop(gpt, 2048, 1, 52224).si() - megatron_flop(gpt, 2048, 1, 51200).si();
    CHECK(more == 6.0 * 2048 * 12288 * 1024);
}

TEST_CASE("conventions are spelled as scenario files spell them") {
    CHECK(to_string(FlopConvention::Megatron2021Hardware) == "MEGATRON_2021_HARDWARE");
    CHECK(to_string(FlopConvention::LlmFoundry) == "LLM_FOUNDRY");
    CHECK(to_string(FlopConvention::Nemo) == "NEMO");
}
