// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tl/expected.hpp>

#include <string>
#include <vector>

namespace orrery {

/// One thing that is wrong with an input, told so that a person can mend it.
struct Diagnostic {
    std::string file{};     ///< file name, "--set", "command line", or empty
    int line = 0;           ///< from 1; 0 = no place in a text
    int column = 0;         ///< from 1; 0 = unknown
    std::string field{};    ///< dotted path of the field ("plan.tensor"), or empty
    std::string message{};  ///< what is wrong, with the numbers of the rule that is broken
    std::string hint{};     ///< nearest valid name, valid range, or what to do; may be empty

    friend bool operator==(const Diagnostic&, const Diagnostic&) = default;
};

using Diagnostics = std::vector<Diagnostic>;

/// A value, or everything that was wrong with the input it should have been made from.
template <typename T>
using Expected = tl::expected<T, Diagnostics>;

/// "scenario.textproto:12:5: plan.tensor: 6 does not divide model.heads = 64\n    try 4 or 8".
[[nodiscard]] std::string to_string(const Diagnostic& diagnostic);

/// All of them, one after another, each ended by a newline.
[[nodiscard]] std::string to_string(const Diagnostics& diagnostics);

[[nodiscard]] tl::unexpected<Diagnostics> fail(Diagnostic diagnostic);

[[nodiscard]] tl::unexpected<Diagnostics> fail(Diagnostics diagnostics);

}  // namespace orrery

/// Binds `name` to the value of an Expected, or returns its diagnostics from the calling function.
#define ORRERY_TRY(name, expression)                                       \
    auto name##_or = (expression);                                         \
    if (!name##_or) {                                                      \
        return ::tl::unexpected<::orrery::Diagnostics>(name##_or.error()); \
    }                                                                      \
    auto& name = *name##_or
