// SPDX-License-Identifier: Apache-2.0
#include "cli/commands.hpp"

#include <exception>
#include <iostream>

int main(int argc, char** argv) {
    try {
        const orrery::Command command = orrery::parse_command_line(argc, argv);
        const auto run = [](const auto& chosen) { return orrery::run_command(chosen); };
        const orrery::ExitCode code = std::visit(run, command);
        std::cout.flush();
        if (!std::cout) {
            std::cerr << "standard output: could not be written to its end\n";
            return static_cast<int>(orrery::ExitCode::BadInput);
        }
        return static_cast<int>(code);
    } catch (const std::exception& error) {
        std::cerr << "orrery: a fault of ours: " << error.what() << '\n';
        return static_cast<int>(orrery::ExitCode::OurFault);
    }
}
