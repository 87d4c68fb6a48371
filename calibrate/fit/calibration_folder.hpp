// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/diagnostic.hpp"
#include "cost/csv_table.hpp"

#include <optional>
#include <string>

namespace orrery {

/// A folder of calibration tables, read by name.
class CalibrationFolder {
  public:
    explicit CalibrationFolder(std::string path) : path_(std::move(path)) {}

    [[nodiscard]] bool has(const std::string& name) const;

    /// The table NAME.csv. Errors: as CsvTable::load.
    [[nodiscard]] Expected<CsvTable> table(const std::string& name) const;

  private:
    std::string path_;
};

/// Writes `text` to `path` under a temporary name first. Errors: the folder cannot be written.
[[nodiscard]] Expected<bool> write_file(const std::string& path, const std::string& text);

}  // namespace orrery
