// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace orrery::docs {

struct Ran {
    int code = 0;
    std::string output;  ///< standard output
    std::string errors;  ///< standard error
};

/// A new folder that goes with the object. It holds links `scenarios` and `build/` as a clone does,
/// so that commands which name shipped files work there and what they write stays there.
class Workplace {
  public:
    Workplace();
    ~Workplace();
    Workplace(const Workplace&) = delete;
    Workplace& operator=(const Workplace&) = delete;

    /// Runs `command` by sh in the folder, with `orrery` on the PATH.
    [[nodiscard]] Ran run(const std::string& command) const;

    void write(const std::string& file, const std::vector<std::string>& lines) const;

  private:
    std::string folder_;
};

[[nodiscard]] std::vector<std::string> read_lines(const std::string& path);

}  // namespace orrery::docs
