#pragma once

#include <cstdint>

#include <time.h>

namespace collectors {

/// A clock in nanoseconds: CLOCK_MONOTONIC for all arithmetic, CLOCK_REALTIME once per trace.
inline std::int64_t clock_ns(clockid_t clock = CLOCK_MONOTONIC) noexcept {
    timespec now{};
    ::clock_gettime(clock, &now);
    return now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec;
}

} // namespace collectors
