// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace orrery::test {

/// What the command printed and how it ended.
struct Outcome {
    int exit_code = -1;
    std::string out;
    std::string err;
};

/// Runs the built `orrery` with these words, its output in pipes.
[[nodiscard]] Outcome run_orrery(const std::vector<std::string>& words);

/// A fresh folder that is removed at the end of its life.
class TemporaryFolder {
  public:
    TemporaryFolder();
    ~TemporaryFolder();
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }

    [[nodiscard]] std::vector<std::string> names() const;

  private:
    std::string path_;
};

[[nodiscard]] std::string read_text(const std::string& path);
void write_text(const std::string& path, const std::string& text);

/// Does `text` contain `part`?
[[nodiscard]] bool has(const std::string& text, const std::string& part);

/// The shipped example that is quick to run.
[[nodiscard]] std::string small_scenario();

}  // namespace orrery::test
