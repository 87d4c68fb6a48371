// SPDX-License-Identifier: Apache-2.0
#include "model/flop_count.hpp"

#include "base/assert.hpp"

namespace orrery {

namespace {

double real(std::int64_t value) {
    return static_cast<double>(value);
}

double query_width(const Transformer& model) {
    return real(model.heads * model.head_dim);
}

/// Multiply-adds a token of one layer's products with weights.
double layer_products(const Transformer& model) {
    const double query = query_width(model);
    const double key_value = real(2 * model.kv_heads * model.head_dim);
    const double matrices = model.mlp == MlpKind::SwiGlu ? 3.0 : 2.0;
    return real(model.hidden) * (2.0 * query + key_value + matrices * real(model.ffn_hidden));
}

/// T·6·[L·(products of a layer) + h·V_padded] + 6·a·d·Σ_layers 2·pairs, pairs = counted pairs of a
/// layer's attention (twice s²/2 where it sees everything).
Flop megatron_form(const Transformer& model, std::int64_t s, std::int64_t sequences,
                   std::int64_t padded_vocab, bool with_window) {
    const double length = real(s);
    const double tokens = real(sequences) * length;
    const double products =
        real(model.layers) * layer_products(model) + real(model.hidden) * real(padded_vocab);
    double twice_pairs = 0.0;
    for (std::int64_t layer = 0; layer < model.layers; ++layer) {
        const double w = real(model.sliding_window);
        const bool is_windowed = with_window && has_window(model, layer) && w < length;
        twice_pairs += is_windowed ? 2.0 * w * length - w * (w - 1.0) : length * length;
    }
    const double attention = 6.0 * query_width(model) * real(sequences) * twice_pairs;
    return Flop(6.0 * tokens * products + attention);
}

/// passes·24·BsLh²·(1 + s/6h + V/(passes·4·Lh)): 72 and 12 for forward and backward, 96 and 16 with
/// the forward run twice. Attention is counted in full, the MLP is 4h wide whatever the model's.
/// Source: Narayanan et al., arXiv 2104.04473, appendix; Korthikanti et al., arXiv 2205.05198,
/// appendix A.
Flop megatron_2021_form(const Transformer& model, std::int64_t s, std::int64_t sequences,
                        std::int64_t padded_vocab, double passes) {
    const double tokens = real(sequences) * real(s);
    const double h = real(model.hidden);
    const double layers = real(model.layers);
    // Expanded so that every term is a whole number and the sum is exact below 2^53 significant
    // bits.
    const double layer = passes * h * (24.0 * h + 4.0 * real(s));
    return Flop(tokens * (layers * layer + 6.0 * h * real(padded_vocab)));
}

/// GPT: 3·L·(24Bsh² + 4Bs²h/2) + 6BshV. Llama: T·L·h²·(12 + 12g/a + 18f/h + 12s/(2h) + 6V/(Lh)).
/// The published formula takes V from a fixed map by family (51200, 32000, 128256), which equals
/// the unpadded vocabulary of these models. Source: NVIDIA NeMo, utils/flops_formulas.py.
Flop nemo_flop(const Transformer& model, std::int64_t s, std::int64_t sequences) {
    const double tokens = real(sequences) * real(s);
    const double h = real(model.hidden);
    const double layers = real(model.layers);
    const double length = real(s);
    const double vocabulary = 6.0 * h * real(model.vocab);
    if (model.mlp == MlpKind::Gelu) {
        return Flop(tokens * (3.0 * layers * h * (24.0 * h + 2.0 * length) + vocabulary));
    }
    const double groups = real(model.kv_heads) / real(model.heads);
    const double layer =
        h * (12.0 * h + 12.0 * h * groups + 18.0 * real(model.ffn_hidden) + 6.0 * length);
    return Flop(tokens * (layers * layer + vocabulary));
}

}  // namespace

/// Causal half of attention, weights' products with the padded vocabulary, windows ignored.
/// Source: Megatron-LM training/training.py num_floating_point_operations.
Flop megatron_flop(const Transformer& model, std::int64_t s, std::int64_t sequences,
                   std::int64_t padded_vocab) {
    return megatron_form(model, s, sequences, padded_vocab, false);
}

/// Per token 6·(N − token embedding; nothing is subtracted when tied) + 6·L·a·2d·s.
/// Source: torchtitan models/utils.py.
Flop torchtitan_flop(const Transformer& model, std::int64_t s, std::int64_t sequences) {
    const double embedding = model.tied_embeddings ? 0.0 : real(model.vocab) * real(model.hidden);
    const double parameters = real(total_parameters(model)) - embedding;
    const double attention = 12.0 * real(model.layers) * query_width(model) * real(s);
    return Flop(real(sequences) * real(s) * (6.0 * parameters + attention));
}

/// Per sequence 3·(2·N·s + 4·L·h·s²), N with the embedding.
/// Source: llm-foundry scripts/train/benchmarking and models/mpt.
Flop llm_foundry_flop(const Transformer& model, std::int64_t s, std::int64_t sequences) {
    const double parameters = real(total_parameters(model));
    const double attention = 12.0 * real(model.layers) * real(model.hidden) * real(s);
    return Flop(real(sequences) * real(s) * (6.0 * parameters + attention));
}

/// Per token 6·N + 12·L·a·d·s.   Source: Chowdhery et al., arXiv 2204.02311, appendix B.
Flop palm_flop(const Transformer& model, std::int64_t s, std::int64_t sequences) {
    const double parameters = real(total_parameters(model));
    const double attention = 12.0 * real(model.layers) * query_width(model) * real(s);
    return Flop(real(sequences) * real(s) * (6.0 * parameters + attention));
}

Flop training_flop(FlopConvention convention, const Transformer& model,
                   std::int64_t sequence_length, std::int64_t sequences,
                   std::int64_t padded_vocab) {
    const std::int64_t s = sequence_length;
    switch (convention) {
        case FlopConvention::Megatron:
            return megatron_flop(model, s, sequences, padded_vocab);
        case FlopConvention::MegatronWindow:
            // A window of w positions has a mean context of w − w(w−1)/(2s).
            // Source: NVIDIA Megatron-Bridge training/utils/flop_utils.py.
            return megatron_form(model, s, sequences, padded_vocab, true);
        case FlopConvention::Megatron2021:
            return megatron_2021_form(model, s, sequences, padded_vocab, 3.0);
        case FlopConvention::Megatron2021Hardware:
            return megatron_2021_form(model, s, sequences, padded_vocab, 4.0);
        case FlopConvention::Palm:
            return palm_flop(model, s, sequences);
        case FlopConvention::Torchtitan:
            return torchtitan_flop(model, s, sequences);
        case FlopConvention::LlmFoundry:
            return llm_foundry_flop(model, s, sequences);
        case FlopConvention::Nemo:
            return nemo_flop(model, s, sequences);
    }
    ORRERY_ASSERT(false, "every convention has a formula");
    return Flop();
}

std::string_view to_string(FlopConvention convention) {
    switch (convention) {
        case FlopConvention::Megatron:
            return "MEGATRON";
        case FlopConvention::MegatronWindow:
            return "MEGATRON_WINDOW";
        case FlopConvention::Megatron2021:
            return "MEGATRON_2021";
        case FlopConvention::Megatron2021Hardware:
            return "MEGATRON_2021_HARDWARE";
        case FlopConvention::Palm:
            return "PALM";
        case FlopConvention::Torchtitan:
            return "TORCHTITAN";
        case FlopConvention::LlmFoundry:
            return "LLM_FOUNDRY";
        case FlopConvention::Nemo:
            return "NEMO";
    }
    ORRERY_ASSERT(false, "every convention has a name");
    return "";
}

}  // namespace orrery
