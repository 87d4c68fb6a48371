// SPDX-License-Identifier: Apache-2.0
#include "calibrate/fit/calibration_folder.hpp"

#include <filesystem>
#include <fstream>
#include <system_error>

namespace orrery {

bool CalibrationFolder::has(const std::string& name) const {
    std::error_code error;
    return std::filesystem::is_regular_file(path_ + "/" + name + ".csv", error);
}

Expected<CsvTable> CalibrationFolder::table(const std::string& name) const {
    return CsvTable::load(path_ + "/" + name + ".csv");
}

Expected<bool> write_file(const std::string& path, const std::string& text) {
    const std::string temporary = path + ".tmp";
    {
        std::ofstream stream(temporary, std::ios::binary | std::ios::trunc);
        stream << text;
        stream.flush();
        if (!stream) {
            return fail({.file = path, .message = "file cannot be written", .hint = {}});
        }
    }
    std::error_code error;
    std::filesystem::rename(temporary, path, error);
    if (error) {
        return fail(
            {.file = path, .message = "file cannot be written: " + error.message(), .hint = {}});
    }
    return true;
}

}  // namespace orrery
