// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/diagnostic.hpp"
#include "base/units.hpp"
#include "cluster/cluster.hpp"
#include "cost/profile.hpp"

#include <cstdint>
#include <string>

namespace orrery {

/// scenarios/gpus/NAME.textproto, its tables read.
struct GpuFile {
    GpuProfile profile;
    LinkFits nvlink;
    BytesPerSecond nvlink_bandwidth;  ///< of a GPU, one direction
};

/// scenarios/fabrics/NAME.textproto. NIC fits are keyed by GPU in the file; `for_gpu` chooses.
struct FabricFile {
    std::string name;
    LinkFits nic;
    BytesPerSecond nic_bandwidth;  ///< of a NIC, one direction
    std::int64_t nics_per_node = 0;
};

/// `name` is a shipped profile's name or a path ending in .textproto. Errors: no such profile (with
/// the nearest), a table that cannot be read, a value out of range.
[[nodiscard]] Expected<GpuFile> load_gpu_profile(const std::string& name);
[[nodiscard]] Expected<FabricFile> load_fabric_profile(const std::string& name,
                                                       const std::string& for_gpu);

}  // namespace orrery
