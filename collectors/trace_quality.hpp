#pragma once

#include "collectors/trace.hpp"

#include <chrono>
#include <cstdint>
#include <optional>

namespace collectors {

struct Spread {
    std::chrono::nanoseconds p50{0};
    std::chrono::nanoseconds p99{0};
    std::chrono::nanoseconds max{0};
};

/// A gap is a distance between successive samples of more than two intervals.
struct Gaps {
    std::uint64_t count = 0;
    std::chrono::nanoseconds longest{0};
    std::chrono::nanoseconds total{0};
};

/// How far to trust a trace, from its samples alone: the sampler's report right after a run and years later.
struct TraceQuality {
    std::uint64_t samples = 0;
    std::uint64_t missed = 0; ///< ticks skipped
    std::uint64_t failed = 0; ///< reads that failed or were dropped
    std::chrono::nanoseconds span{0};
    Gaps gaps;
    Spread achieved_interval; ///< between successive samples
    Spread lateness;          ///< behind the tick that was due; 0 if the trace follows no grid
    Spread read_width;        ///< both reads together
    std::optional<std::chrono::nanoseconds> rx_refresh_period; ///< see refresh_period()
    std::optional<std::chrono::nanoseconds> tx_refresh_period;

    /// Skipped ticks among all ticks, 0 to 1.
    double missed_share() const;
};

TraceQuality trace_quality(const Trace& trace);

/// The samples whose windows lie inside [from, to]. Missed and failed ticks are counted anew from the flags.
Trace clip(const Trace& trace, std::chrono::nanoseconds from, std::chrono::nanoseconds to);

} // namespace collectors
