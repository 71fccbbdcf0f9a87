#pragma once

#include <chrono>
#include <cstdint>
#include <stop_token>

namespace collectors {

/// From this interval on a TickClock only sleeps.
inline constexpr std::chrono::milliseconds sleeping_from{1};

/// Waits for deadlines of CLOCK_MONOTONIC: sleeps until `spin_ns` before, then spins.
class TickClock {
public:
    /// Prepares the calling thread (timer slack 1 ns) and measures how late it wakes, to know how long it
    /// must spin: the median of a few dozen sleeps, at most 1/8 of the interval and 100 us. From 1 ms on it
    /// only sleeps: late by tens of microseconds, for less than 2 % of a core. Up to 50 us, where a wake-up
    /// takes more than half the interval, it never sleeps: it would miss most ticks, and takes a core anyway.
    explicit TickClock(std::int64_t interval_ns);

    /// False as soon as a stop is requested; noticed within 50 ms.
    bool wait_until(std::int64_t deadline_ns, const std::stop_token& stop) const noexcept;

    std::int64_t spin_ns() const { return spin_ns_; }

private:
    std::int64_t spin_ns_ = 0;
};

} // namespace collectors
