// SPDX-License-Identifier: Apache-2.0
#include "engine/program_layout.hpp"

#include "base/assert.hpp"

namespace orrery {
namespace {

void place_instructions(ProgramLayout& layout, std::int64_t launch_queue) {
    const std::vector<Instruction>& instructions = layout.program->instructions;
    layout.position.resize(instructions.size(), 0);
    layout.gate.resize(instructions.size(), 0);
    std::array<std::vector<std::uint32_t>, kNumStreams> launches;  // positions of real launches
    for (std::uint32_t i = 0; i < layout.size(); ++i) {
        const Instruction& instruction = instructions[i];
        if (instruction.kind == InstructionKind::HostWait) {
            layout.stops.push_back(i);
            continue;
        }
        const auto stream = static_cast<std::size_t>(instruction.stream);
        layout.position[i] = static_cast<std::uint32_t>(layout.order[stream].size());
        layout.order[stream].push_back(i);
        if (instruction.launch == LaunchClass::Free) {
            continue;
        }
        std::vector<std::uint32_t>& queue = launches[stream];
        if (queue.size() >= static_cast<std::size_t>(launch_queue)) {
            layout.gate[i] = queue[queue.size() - static_cast<std::size_t>(launch_queue)] + 1;
            layout.stops.push_back(i);
        }
        queue.push_back(layout.position[i]);
    }
}

}  // namespace

ProgramLayout lay_out(const Program& program,
                      const std::array<SimTime, kNumLaunchClasses>& launch_costs,
                      std::int64_t launch_queue) {
    ORRERY_ASSERT(launch_queue >= 1, "a host that may issue nothing ahead never starts");
    ProgramLayout layout;
    layout.program = &program;
    place_instructions(layout, launch_queue);
    layout.dependencies.reserve(program.waits.size());
    for (const InstructionId wait : program.waits) {
        const Instruction& awaited = program.instructions[wait.value()];
        ORRERY_ASSERT(awaited.kind != InstructionKind::HostWait,
                      "only the host knows when it went on");
        layout.dependencies.push_back({.position = layout.position[wait.value()],
                                       .stream = static_cast<std::uint8_t>(awaited.stream)});
    }
    layout.host_time.resize(program.instructions.size() + 1);
    for (std::size_t i = 0; i < program.instructions.size(); ++i) {
        layout.host_time[i + 1] =
            layout.host_time[i] +
            launch_costs[static_cast<std::size_t>(program.instructions[i].launch)];
    }
    return layout;
}

}  // namespace orrery
