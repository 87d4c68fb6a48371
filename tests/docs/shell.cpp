// SPDX-License-Identifier: Apache-2.0
#include "tests/docs/shell.hpp"

#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): mkdtemp is POSIX's
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace orrery::docs {
namespace {

namespace fs = std::filesystem;

std::string content(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

}  // namespace

Workplace::Workplace() : folder_((fs::temp_directory_path() / "orrery-docs-XXXXXX").string()) {
    if (::mkdtemp(folder_.data()) == nullptr) {
        throw std::runtime_error("no temporary folder: " + folder_);
    }
    fs::create_directories(fs::path(folder_) / "build/release/bin");
    fs::create_directory_symlink(fs::path(ORRERY_SOURCE_DIR) / "scenarios",
                                 fs::path(folder_) / "scenarios");
    fs::create_symlink(ORRERY_BINARY, fs::path(folder_) / "build/release/bin/orrery");
}

Workplace::~Workplace() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
}

Ran Workplace::run(const std::string& command) const {
    const fs::path out = fs::path(folder_) / ".stdout";
    const fs::path err = fs::path(folder_) / ".stderr";
    const std::string line = "cd '" + folder_ + "' && PATH=\"$PWD/build/release/bin:$PATH\" && { " +
                             command + "\n} >'" + out.string() + "' 2>'" + err.string() +
                             "' </dev/null";
    const int status =
        std::system(line.c_str());  // NOLINT(concurrency-mt-unsafe): tests have one thread
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, content(out), content(err)};
}

void Workplace::write(const std::string& file, const std::vector<std::string>& lines) const {
    std::ofstream out(fs::path(folder_) / file);
    for (const std::string& line : lines) {
        out << line << '\n';
    }
}

std::vector<std::string> read_lines(const std::string& path) {
    std::ifstream in(path);
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) {
        lines.push_back(line);
    }
    return lines;
}

}  // namespace orrery::docs
