// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "report/result.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace orrery {

/// The job in three lines: model and cluster, how it is split, how it is trained.
[[nodiscard]] std::vector<std::string> describe_job(const ResultInput& input);

/// "12.3 GFLOP"-style numbers: four significant digits and the SI prefix, no unit.
[[nodiscard]] std::string format_count(double value);

/// "nvlink", "pcie", "nic", "local": as in the JSON.
[[nodiscard]] const char* link_name(LinkKind link);

}  // namespace orrery
