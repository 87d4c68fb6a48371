// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/ids.hpp"
#include "base/sim_time.hpp"
#include "base/units.hpp"
#include "cost/kernel_time.hpp"
#include "model/kernel.hpp"

#include <cstdint>
#include <map>

namespace orrery {

/// A kernel of the job with its duration. Durations include the gap before the kernel and are
/// rounded up to whole picoseconds once, here.
struct CostRow {
    KernelSpec kernel;
    SimTime duration;
    TimeSource source = TimeSource::Roofline;
    double sigma = 0.0;
    Flop flop;
    bool is_memory_bound = false;
};

/// Durations by CostId. Instructions hold ids, so that another profile, a what-if or a random draw
/// replaces this table and leaves the Programs alone.
using CostTable = IdVector<CostId, CostRow>;

/// Interns kernels: one row for each different shape.
class CostTableBuilder {
  public:
    CostTableBuilder(const KernelTimes& times, Seconds kernel_gap)
        : times_(&times), gap_(kernel_gap) {}

    CostId add(const KernelSpec& kernel);

    [[nodiscard]] CostTable take() { return std::move(table_); }

  private:
    const KernelTimes* times_;
    Seconds gap_;
    CostTable table_;
    std::map<KernelSpec, CostId> ids_;
};

}  // namespace orrery
