// SPDX-License-Identifier: Apache-2.0
#include "cli/output.hpp"

#include "base/parse_units.hpp"
#include "base/units.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <system_error>

namespace orrery {

namespace {

namespace fs = std::filesystem;

// A signal handler can reach nothing but a global.
volatile std::sig_atomic_t interrupts =
    0;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

extern "C" void note_interrupt(int /*signal*/) {
    interrupts = 1;
}

Diagnostic file_error(const std::string& path, const std::string& message) {
    Diagnostic diagnostic;
    diagnostic.file = path;
    diagnostic.message = message;
    return diagnostic;
}

std::string last_error() {
    return std::generic_category().message(errno);
}

fs::path folder_of(const std::string& path) {
    const fs::path folder = fs::path(path).parent_path();
    return folder.empty() ? fs::path(".") : folder;
}

}  // namespace

Expected<bool> write_file(const std::string& path,
                          const std::function<void(std::ostream&)>& write) {
    std::error_code ignored;
    if (fs::exists(path, ignored) && !fs::is_regular_file(path, ignored)) {
        // A device or a pipe is written to, not replaced.
        std::ofstream out(path, std::ios::binary);
        write(out);
        out.close();
        if (!out) {
            return fail(file_error(path, "could not be written to its end: " + last_error()));
        }
        return true;
    }
    // A link stays: what it leads to is replaced.
    const fs::path linked = fs::weakly_canonical(path, ignored);
    const std::string target = fs::is_symlink(path, ignored) ? linked.string() : path;
    const std::string temporary = fmt::format("{}.tmp-{}", target, ::getpid());
    {
        std::ofstream out(temporary, std::ios::binary | std::ios::trunc);
        if (!out) {
            return fail(file_error(path, "cannot be written: " + last_error()));
        }
        write(out);
        out.close();
        if (!out) {
            const std::string why = last_error();
            fs::remove(temporary, ignored);
            return fail(file_error(path, "could not be written to its end: " + why));
        }
    }
    std::error_code error;
    fs::rename(temporary, target, error);
    if (error) {
        fs::remove(temporary, ignored);
        return fail(file_error(path, "cannot be written: " + error.message()));
    }
    return true;
}

Diagnostics check_writable(const std::string& option, const std::string& path) {
    const fs::path folder = folder_of(path);
    std::error_code error;
    Diagnostic diagnostic;
    diagnostic.file = "command line";
    diagnostic.field = option;
    if (fs::is_directory(path, error)) {
        diagnostic.message = path + " is a folder";
    } else if (!fs::is_directory(folder, error)) {
        diagnostic.message = "there is no folder " + folder.string();
    } else if (::access(folder.c_str(), W_OK) != 0) {
        diagnostic.message =
            fmt::format("{} cannot be written to: {}", folder.string(), last_error());
    } else {
        return {};
    }
    return {diagnostic};
}

Expected<std::string> read_file(const std::string& path) {
    constexpr std::uintmax_t kLimit = std::uintmax_t{64} << 20;
    std::error_code error;
    const std::uintmax_t size = fs::file_size(path, error);
    if (error) {
        return fail(file_error(path, "cannot be read: " + error.message()));
    }
    if (size > kLimit) {
        return fail(file_error(path, "is larger than 64 MiB"));
    }
    std::ifstream in(path, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    if (!in) {
        return fail(file_error(path, "cannot be read: " + last_error()));
    }
    return text.str();
}

void print_errors(const Diagnostics& diagnostics) {
    std::cerr << to_string(diagnostics);
}

int output_width(int otherwise) {
    if (const char* text = std::getenv("COLUMNS");
        text != nullptr) {  // NOLINT(concurrency-mt-unsafe)
        int columns = 0;
        const auto [end, error] = std::from_chars(text, text + std::strlen(text), columns);
        if (error == std::errc() && *end == '\0' && columns > 0) {
            return columns;
        }
    }
    winsize size{};
    if (::isatty(STDOUT_FILENO) == 1 && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 &&
        size.ws_col > 0) {
        return size.ws_col;
    }
    return otherwise;
}

bool wants_colour() {
    return ::isatty(STDOUT_FILENO) == 1 &&
           std::getenv("NO_COLOR") == nullptr;  // NOLINT(concurrency-mt-unsafe)
}

InterruptGuard::InterruptGuard() {
    interrupts = 0;

    struct sigaction action {};

    action.sa_handler = note_interrupt;
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    ::sigaction(SIGINT, &action, nullptr);
}

InterruptGuard::~InterruptGuard() {
    std::signal(SIGINT, SIG_DFL);
}

bool InterruptGuard::is_interrupted() {
    return interrupts != 0;
}

ProgressBar::ProgressBar(std::string label)
    : label_(std::move(label)),
      is_terminal_(::isatty(STDERR_FILENO) == 1),
      begin_(std::chrono::steady_clock::now()) {}

ProgressBar::~ProgressBar() {
    if (is_drawn_) {
        std::cerr << "\r\x1b[K" << std::flush;
    }
}

void ProgressBar::show(double done) {
    constexpr int kWidth = 30;
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin_;
    if (!is_terminal_ || took.count() < 0.3) {
        return;
    }
    done = std::clamp(done, 0.0, 1.0);
    const int full = static_cast<int>(done * kWidth);
    std::string text = fmt::format("\r\x1b[K{} ", label_);
    for (int i = 0; i < kWidth; ++i) {
        text += i < full ? "█" : "░";
    }
    text += fmt::format(" {:3.0f}%", 100.0 * done);
    if (done > 0.02) {
        text += fmt::format("  about {} left",
                            format_seconds(Seconds(took.count() * (1.0 / done - 1.0))));
    }
    std::cerr << text << std::flush;
    is_drawn_ = true;
}

}  // namespace orrery
