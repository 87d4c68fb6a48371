// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/units.hpp"
#include "model/training.hpp"
#include "model/transformer.hpp"

#include <cstdint>
#include <string_view>

namespace orrery {

/// Training FLOP (forward and backward) of `sequences` sequences of `sequence_length` tokens by the
/// named convention. `padded_vocab` is used where the convention uses it (Megatron's).
/// Sources: beside each function in flop_count.cpp.
[[nodiscard]] Flop training_flop(FlopConvention convention, const Transformer& model,
                                 std::int64_t sequence_length, std::int64_t sequences,
                                 std::int64_t padded_vocab);

[[nodiscard]] Flop megatron_flop(const Transformer& model, std::int64_t s, std::int64_t sequences,
                                 std::int64_t padded_vocab);
[[nodiscard]] Flop torchtitan_flop(const Transformer& model, std::int64_t s,
                                   std::int64_t sequences);
[[nodiscard]] Flop llm_foundry_flop(const Transformer& model, std::int64_t s,
                                    std::int64_t sequences);
[[nodiscard]] Flop palm_flop(const Transformer& model, std::int64_t s, std::int64_t sequences);

[[nodiscard]] std::string_view to_string(FlopConvention convention);

}  // namespace orrery
