// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace orrery {

/// Number formats of kernels and buffers. The last four name how a product is quantised, too
/// (`--shapes` of `orrery kernel`).
enum class Dtype : std::uint8_t { Fp32, Bf16, Fp16, Fp8, Fp8DynQuant, Fp8Block128, Mxfp8, Nvfp4 };

/// Bytes of one element without its scales; NVFP4 is half a byte.
[[nodiscard]] double bytes_per_element(Dtype dtype);

/// "bf16", "fp8_block128", …: the spelling of the command line and of the tables.
[[nodiscard]] std::string_view to_string(Dtype dtype);

}  // namespace orrery
