// SPDX-License-Identifier: Apache-2.0
#include "engine/run_record.hpp"

namespace orrery {

SimTime TimeSplit::total() const {
    SimTime sum = compute + bubble + optimizer + host;
    for (const SimTime exposed : exposed_communication) {
        sum += exposed;
    }
    return sum;
}

}  // namespace orrery
