// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/diagnostic.hpp"
#include "cost/profile.hpp"
#include "scenario/text_format.hpp"

#include <string>

namespace orrery::schema {
class FrameworkProfile;
class FrameworkSettings;
}  // namespace orrery::schema

namespace orrery {

/// A framework file, parsed.
struct FrameworkFile {
    std::string file;
    TextLocations places;
    std::string release;  ///< the one that was taken
    std::string prefix;   ///< where what it did otherwise stands: "settings.", "older[0].settings."
};

/// Path of the profile of a word of training.framework: "MEGATRON_DEEPSPEED" →
/// scenarios/frameworks/megatron_deepspeed.textproto; OTHER is MEGATRON's.
[[nodiscard]] std::string framework_file_name(const std::string& framework);

/// The settings of `release` (empty: the newest): those of the newest, overlaid by what the older
/// one did otherwise. `prefix` is where its defaults stand in the file: "settings." or
/// "older[0].settings.". Errors: no such release (the nearest and all known as the hint, without a
/// place).
[[nodiscard]] Expected<std::string> find_release(const schema::FrameworkProfile& message,
                                                 const std::string& release,
                                                 schema::FrameworkSettings& settings);

/// Its constants as the struct that costs are computed from. Errors: one that is missing or not a
/// quantity.
[[nodiscard]] Expected<FrameworkProfile> read_framework(const schema::FrameworkProfile& message,
                                                        const schema::FrameworkSettings& settings,
                                                        const FrameworkFile& source);

}  // namespace orrery
