// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace orrery {

/// Prints the broken invariant with its place and ends the process with exit code 3 (a fault of
/// ours).
[[noreturn]] void assertion_failed(const char* condition, const char* why, const char* file,
                                   int line) noexcept;

}  // namespace orrery

/// States an invariant of our own code; on in release builds too. `why` says why it must hold.
#define ORRERY_ASSERT(condition, why)                                          \
    do {                                                                       \
        if (!(condition)) {                                                    \
            ::orrery::assertion_failed(#condition, (why), __FILE__, __LINE__); \
        }                                                                      \
    } while (false)
