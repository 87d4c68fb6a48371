// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/assert.hpp"

#include <array>
#include <cstddef>
#include <utility>

namespace orrery {

/// Enumerators of the schema beside those of the structs, for those that are built.
template <typename Schema, typename Own, std::size_t N>
using EnumPairs = std::array<std::pair<Schema, Own>, N>;

template <typename Schema, typename Own, std::size_t N>
[[nodiscard]] Own from_schema(const EnumPairs<Schema, Own, N>& pairs, Schema value) {
    for (const auto& [theirs, own] : pairs) {
        if (theirs == value) {
            return own;
        }
    }
    return pairs.front().second;  // one that is not built was refused by name before
}

template <typename Schema, typename Own, std::size_t N>
[[nodiscard]] Schema to_schema(const EnumPairs<Schema, Own, N>& pairs, Own value) {
    for (const auto& [theirs, own] : pairs) {
        if (own == value) {
            return theirs;
        }
    }
    ORRERY_ASSERT(false, "every enumerator of a struct has a word in the schema");
    return pairs.front().first;
}

}  // namespace orrery
