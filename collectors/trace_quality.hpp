#pragma once

#include "collectors/histogram.hpp"
#include "collectors/refresh_period.hpp"
#include "collectors/trace.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>

namespace collectors {

/// Shares above which a trace tells too little: of skipped ticks, of time in gaps. Reports warn and verdicts
/// refuse from there on.
inline constexpr double most_missed_share = 0.01;
inline constexpr double most_gap_share = 0.01;

/// A gap is a distance between successive samples of more than two intervals.
struct Gaps {
    std::uint64_t count = 0;
    std::chrono::nanoseconds longest{0};
    std::chrono::nanoseconds total{0};
};

/// How far to trust a trace, from its samples alone: the sampler's report right after a run and years later.
struct TraceQuality {
    std::uint64_t samples = 0;
    bool ticks_known = true;    ///< false: nobody knows the interval (no sidecar), so `missed` and `failed`
                                ///< are the least that there were, and `lateness` is not known
    std::uint64_t missed = 0;   ///< ticks skipped
    std::uint64_t failed = 0;   ///< reads that failed or were dropped
    std::uint64_t restarts = 0; ///< samples at which a counter had started anew
    std::uint64_t suspends = 0; ///< samples before which the host was suspended
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

/// The quality of a trace while its samples arrive, in bounded memory: percentiles are within 0.1 % (see
/// Histogram).
class OnlineQuality {
public:
    explicit OnlineQuality(const TraceInfo& info);

    void add(std::span<const Sample> samples);
    /// Of all samples so far. `whole`: they are the whole trace, whose sidecar knows how many ticks were
    /// missed; of a part, of a file that was cut, or without a complete sidecar, the flags of the samples
    /// tell it, nearly: each stands for at least one.
    TraceQuality quality(bool whole) const;

private:
    void add(const Sample& sample);
    void count_absent(const Sample& sample);
    void count_lateness(const Sample& sample, std::int64_t interval);
    std::int64_t expected_distance() const;

    TraceInfo info_;
    RefreshWatch refresh_;
    Histogram distances_;
    Histogram lateness_;
    Histogram widths_;
    std::uint64_t samples_ = 0;
    std::uint64_t missed_ = 0; ///< by the flags
    std::uint64_t failed_ = 0;
    std::uint64_t restarts_ = 0;
    std::uint64_t suspends_ = 0;
    std::int64_t due_ns_ = 0; ///< the next tick
    std::int64_t first_ns_ = 0;
    Sample last_;
};

TraceQuality trace_quality(const Trace& trace);

} // namespace collectors
