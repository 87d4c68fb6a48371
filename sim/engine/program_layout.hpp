// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "program/program.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace orrery {

/// "Instruction `position` of `stream` is done." Streams are in order, so it is exactly when the
/// stream has completed more than `position` instructions.
struct Dependency {
    std::uint32_t position = 0;
    std::uint8_t stream = 0;
};

/// A Program prepared for the engine; shared by every rank that runs it. HostWait belongs to no
/// stream.
struct ProgramLayout {
    const Program* program = nullptr;
    std::array<std::vector<std::uint32_t>, kNumStreams> order;  ///< instruction numbers by stream
    std::vector<Dependency> dependencies;  ///< beside Program::waits, same indices
    std::vector<std::uint32_t> position;   ///< of an instruction in its stream
    /// How many instructions its stream must have completed before the host may issue it: the
    /// launch queue holds a fixed number of launches (Allocate and Free are none).
    std::vector<std::uint32_t> gate;
    std::vector<std::uint32_t>
        stops;  ///< where the host may have to stop: HostWaits and gated instructions
    std::vector<SimTime>
        host_time;  ///< [i] = host cost of instructions 0 … i−1; one entry more than them

    [[nodiscard]] std::uint32_t size() const {
        return static_cast<std::uint32_t>(program->instructions.size());
    }
};

/// Requires: launch_queue >= 1; waits name earlier instructions that are no HostWait.
[[nodiscard]] ProgramLayout lay_out(const Program& program,
                                    const std::array<SimTime, kNumLaunchClasses>& launch_costs,
                                    std::int64_t launch_queue);

}  // namespace orrery
