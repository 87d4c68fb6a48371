// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/diagnostic.hpp"

#include <chrono>
#include <functional>
#include <iosfwd>
#include <string>

namespace orrery {

/// Writes a file under a temporary name beside it, then renames it: it is there whole or not at
/// all. Errors: the folder is missing or not writable, the disk is full.
[[nodiscard]] Expected<bool> write_file(const std::string& path,
                                        const std::function<void(std::ostream&)>& write);

/// Can `path` be written? To be asked before long work. `option` names the culprit in the message.
[[nodiscard]] Diagnostics check_writable(const std::string& option, const std::string& path);

/// The whole file. Errors: it is missing, unreadable or above 64 MiB.
[[nodiscard]] Expected<std::string> read_file(const std::string& path);

/// Each on its line of standard error.
void print_errors(const Diagnostics& diagnostics);

/// Columns of the terminal behind standard output ($COLUMNS, or the terminal's own answer);
/// `otherwise` where it is none.
[[nodiscard]] int output_width(int otherwise);

/// Standard output is a terminal that wants colour (NO_COLOR is not set).
[[nodiscard]] bool wants_colour();

/// From its making on, the first Ctrl-C asks to stop and a second one ends the process.
class InterruptGuard {
  public:
    InterruptGuard();
    ~InterruptGuard();
    InterruptGuard(const InterruptGuard&) = delete;
    InterruptGuard& operator=(const InterruptGuard&) = delete;

    [[nodiscard]] static bool is_interrupted();
};

/// A bar on standard error with the share done and an estimate of what is left; nothing where
/// standard error is no terminal. It is wiped when it goes.
class ProgressBar {
  public:
    explicit ProgressBar(std::string label);
    ~ProgressBar();
    ProgressBar(const ProgressBar&) = delete;
    ProgressBar& operator=(const ProgressBar&) = delete;

    void show(double done);

  private:
    std::string label_;
    bool is_terminal_;
    bool is_drawn_ = false;
    std::chrono::steady_clock::time_point begin_;
};

}  // namespace orrery
