#pragma once

#include "collectors/monotonic_clock.hpp"
#include "collectors/trace.hpp"

#include <cstdint>

/// How the clocks of a host stand to each other. All arithmetic is on CLOCK_MONOTONIC, which nobody can set;
/// but it stands still while the host is suspended.
namespace collectors {

/// Reads one clock; replaced in tests.
using ClockReader = std::int64_t (*)(clockid_t) noexcept;

/// All clocks at one moment.
struct ClockMoment {
    std::int64_t monotonic_ns = 0;
    std::int64_t realtime_ns = 0; ///< what a person or NTP may set
    std::int64_t boottime_ns = 0; ///< CLOCK_MONOTONIC and the time that the host was suspended
    std::int64_t raw_ns = 0;      ///< what nobody steers
};

/// The narrowest of five readings.
ClockMoment clock_moment(ClockReader read = clock_ns) noexcept;

/// What happened to the clocks from the start to the end of a trace.
ClockFacts clock_facts(const ClockMoment& start, const ClockMoment& end);

/// By how much CLOCK_REALTIME was set meanwhile, beside what the suspended host missed.
std::int64_t realtime_step_ns(const TraceInfo& info);

/// Notices that the host was suspended: CLOCK_BOOTTIME went on while CLOCK_MONOTONIC stood still. A thread
/// that was interrupted between its readings proves nothing.
class SuspendWatch {
public:
    /// How long the host was suspended since the last call, at least; 0 if it was not. CLOCK_BOOTTIME was
    /// read between the two others.
    std::int64_t add(std::int64_t monotonic_before_ns, std::int64_t boottime_ns,
                     std::int64_t monotonic_after_ns) noexcept;

private:
    bool first_ = true;
    std::int64_t most_ahead_ns_ = 0; ///< of CLOCK_BOOTTIME, at most
};

} // namespace collectors
