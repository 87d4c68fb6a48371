// SPDX-License-Identifier: Apache-2.0
// Any bytes as a scenario file: an error with a message, or a scenario whose resolved text loads
// again.
#include "fuzz_target.hpp"
#include "scenario/scenario.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(data, data + size);
    const auto scenario = orrery::parse_scenario(text, "fuzz.textproto", {});
    if (!scenario) {
        for (const orrery::Diagnostic& error : scenario.error()) {
            if (error.message.empty() || error.line < 0 || error.column < 0) {
                std::abort();
            }
        }
        return scenario.error().empty() ? (std::abort(), 0) : 0;
    }
    const auto again = orrery::parse_scenario(scenario->text, "fuzz.textproto", {});
    if (!again || again->text != scenario->text || !(again->plan == scenario->plan)) {
        std::abort();
    }
    return 0;
}
