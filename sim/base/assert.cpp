// SPDX-License-Identifier: Apache-2.0
#include "base/assert.hpp"

#include <cstdio>
#include <cstdlib>

namespace orrery {

void assertion_failed(const char* condition, const char* why, const char* file, int line) noexcept {
    std::fprintf(stderr, "orrery: internal fault at %s:%d\n  %s\n  must hold because %s\n", file,
                 line, condition, why);
    std::fflush(stderr);
    std::_Exit(3);
}

}  // namespace orrery
