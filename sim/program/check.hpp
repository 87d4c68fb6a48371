// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "program/program.hpp"

#include <string>
#include <vector>

namespace orrery {

/// Everything about a ProgramSet that does not hold, as sentences; empty when all holds:
/// waits name earlier instructions; every Send has exactly one Recv of equal bytes and tag on the
/// peer stage and the other way round; ranks of one stage list the same collectives of a group in
/// the same order as every other member stage; tensors allocated are freed in the step, and never
/// freed before.
[[nodiscard]] std::vector<std::string> check_programs(const ProgramSet& set);

}  // namespace orrery
