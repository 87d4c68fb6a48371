// SPDX-License-Identifier: Apache-2.0
#include "calibrate/fit/profile_maker.hpp"

#include <cstdio>
#include <filesystem>
#include <string>

namespace orrery {
namespace {

bool write_parts(const std::string& folder, const std::string& name,
                 const Expected<MadeProfile>& made) {
    if (!made) {
        std::fputs(to_string(made.error()).c_str(), stderr);
        return false;
    }
    for (const ProfilePart& part : made->parts) {
        const auto written = write_file(folder + "/" + part.name, part.text);
        if (!written) {
            std::fputs(to_string(written.error()).c_str(), stderr);
            return false;
        }
    }
    std::printf("%s\n", name.c_str());
    for (const std::string& note : made->notes) {
        std::printf("  %s\n", note.c_str());
    }
    std::fflush(stdout);
    return true;
}

int make_all(const std::string& tables, const std::string& out) {
    const CalibrationFolder folder(tables);
    std::error_code error;
    for (const char* kind : {"/gpus", "/fabrics"}) {
        std::filesystem::create_directories(out + kind, error);
        if (error) {
            std::fprintf(stderr, "%s%s: %s\n", out.c_str(), kind, error.message().c_str());
            return 2;
        }
    }
    for (const KnownGpu& gpu : known_gpus()) {
        if (!write_parts(out + "/gpus", std::string(gpu.name), make_gpu_profile(folder, gpu))) {
            return 2;
        }
    }
    for (const KnownFabric& fabric : known_fabrics()) {
        if (!write_parts(out + "/fabrics", std::string(fabric.name),
                         make_fabric_profile(folder, fabric))) {
            return 2;
        }
    }
    return 0;
}

}  // namespace
}  // namespace orrery

int main(int argc, char** argv) {
    if (argc != 3) {
        std::fputs(
            "usage: orrery_make_profiles TABLES OUT\n"
            "  makes OUT/gpus and OUT/fabrics from a folder of calibration tables\n"
            "  example: orrery_make_profiles calibration scenarios\n",
            stderr);
        return 2;
    }
    return orrery::make_all(argv[1], argv[2]);
}
