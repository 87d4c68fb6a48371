// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/diagnostic.hpp"
#include "calibrate/fit/calibration_folder.hpp"
#include "calibrate/fit/known_gpus.hpp"
#include "cluster/cluster.hpp"

#include <string>
#include <vector>

namespace orrery {

/// A file that a profile is made of: name (relative) and text.
struct ProfilePart {
    std::string name;
    std::string text;
};

/// A profile with its tables, and a few lines on how well it fits.
struct MadeProfile {
    std::vector<ProfilePart> parts;
    std::vector<std::string> notes;
};

/// The profile of one GPU from its tables in `folder`, or from its sibling's where it has none. The
/// same tables give the same bytes. Errors: a missing or broken table.
[[nodiscard]] Expected<MadeProfile> make_gpu_profile(const CalibrationFolder& folder,
                                                     const KnownGpu& gpu);

/// The profile of one fabric: bases and rates from the multi-node tables that name it, else from
/// the NIC's rate. Errors: a missing or broken table.
[[nodiscard]] Expected<MadeProfile> make_fabric_profile(const CalibrationFolder& folder,
                                                        const KnownFabric& fabric);

/// The NVLink fits of a GPU, scaled from its sibling where it has no table.
struct NvlinkFits {
    LinkFits fits;
    std::string origin;
    bool is_measured = false;
};

[[nodiscard]] Expected<NvlinkFits> fit_nvlink(const CalibrationFolder& folder, const KnownGpu& gpu);

}  // namespace orrery
