// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

/// libFuzzer's entry: reads `size` bytes from outside and must not crash. Aborts when what it read
/// breaks a promise. The same function runs over the corpus as a test.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
