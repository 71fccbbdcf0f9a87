#pragma once

#include "collectors/trace.hpp"

#include <chrono>
#include <optional>
#include <span>
#include <vector>

namespace collectors {

/// How often the counter really moves, if that is much slower than it is read: some drivers (bnxt, atlantic,
/// ice) refresh their byte counters once a second or so. It is slow if, while bytes flow (a typical step
/// exceeds a jumbo frame), practically no two changes are closer than 5 readings and their distances are
/// multiples of one period. nullopt if it moves as fast as it is read, or too little flowed to tell. Equal,
/// far apart bursts that each fit between two readings look the same; so ask only where the counter may be
/// slow, see `counts_at_once`.
std::optional<std::chrono::nanoseconds> refresh_period(std::span<const Reading> readings);

/// Watches the counters of a trace while its samples arrive, for refresh_period() of both. It looks at the
/// first 262,144 samples (131 s at 500 us): a driver that is slow is slow from the start, and memory is
/// bounded.
class RefreshWatch {
public:
    explicit RefreshWatch(const TraceInfo& info);

    void add(std::span<const Sample> samples);
    /// nullopt for devices that count at once.
    std::optional<std::chrono::nanoseconds> period(Direction direction) const;

private:
    static constexpr std::size_t watched_samples = 262'144;
    bool watching_;
    std::vector<Reading> rx_;
    std::vector<Reading> tx_;
};

/// True for devices that the kernel counts in software, packet by packet: their counters are never late.
bool counts_at_once(const TraceInfo& info);

} // namespace collectors
