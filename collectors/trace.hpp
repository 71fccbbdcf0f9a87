#pragma once

#include "collectors/time_keeping.hpp"
#include "collectors/units.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace collectors {

enum class Direction { tx, rx };

/// Why a sample is special; a bit set in `Sample::flags` and in the CSV column `flags`.
enum SampleFlag : std::uint32_t {
    missed_ticks = 1, ///< at least one tick before this sample was skipped: it came too late
    failed_reads = 2, ///< at least one read before this sample failed or was dropped (ring full): a gap
    new_segment = 4,  ///< a counter fell or the device came back: no difference may span this sample's start
    host_suspended =
        8, ///< the host was suspended before this sample, while t_ns stood still; with new_segment
};

/// One reading of both byte counters. The rx counter was read within [t_ns, t_ns + rx_width_ns], the tx
/// counter within [t_ns + rx_width_ns, t_ns + rx_width_ns + tx_width_ns]; t_ns counts from the start of the
/// trace.
struct Sample {
    std::int64_t t_ns = 0;
    std::uint32_t rx_width_ns = 0;
    std::uint32_t tx_width_ns = 0;
    std::uint64_t rx_bytes = 0;
    std::uint64_t tx_bytes = 0;
    std::uint32_t flags = 0;

    bool operator==(const Sample&) const = default;
};

/// p50, p99 and the largest.
struct Spread {
    std::chrono::nanoseconds p50{0};
    std::chrono::nanoseconds p99{0};
    std::chrono::nanoseconds max{0};

    bool operator==(const Spread&) const = default;
};

/// How the sampler itself did, for the sidecar.
struct SamplerFacts {
    std::string scheduling;    ///< policy of the sampling thread: "SCHED_OTHER", "SCHED_FIFO 10"; empty
                               ///< before it has ended
    std::optional<int> cpu;    ///< to which it was pinned
    double cpu_share = 0;      ///< of one CPU, for all sources of the thread together
    std::uint64_t sources = 0; ///< that the thread read at each tick
    std::chrono::nanoseconds spin{
        0}; ///< part of each interval that is spent spinning, calibrated at the start

    // Of this trace.
    Spread achieved_interval;
    Spread read_width; ///< both reads together
    std::uint64_t gaps = 0;
    std::chrono::nanoseconds longest_gap{0};
    std::optional<std::chrono::nanoseconds> refresh_period; ///< of the slower counter, if that is slow
    std::chrono::nanoseconds resolved_from{0};              ///< the smallest window of which it can tell

    bool operator==(const SamplerFacts&) const = default;
};

/// How the clocks moved from the start to the end, see host_clocks.hpp.
struct ClockFacts {
    std::int64_t end_monotonic_ns = 0; ///< CLOCK_MONOTONIC at the end; 0: nothing of this is known
    std::int64_t end_realtime_ns = 0;  ///< CLOCK_REALTIME at the same moment
    std::int64_t suspended_ns = 0;     ///< the host stood still for that long, and so did CLOCK_MONOTONIC
    double slew_ppm = 0; ///< by which NTP or PTP let CLOCK_MONOTONIC run faster than the oscillator

    bool operator==(const ClockFacts&) const = default;
};

/// Somebody gave the interface another name, took it away or moved it to another network namespace.
struct Renaming {
    std::int64_t t_ns = 0; ///< when it was noticed, from the start of the trace; up to 100 ms late
    std::string name;      ///< the new one; empty: none in this namespace any more

    bool operator==(const Renaming&) const = default;
};

/// What a trace says about itself; the JSON sidecar.
struct TraceInfo {
    std::string host;
    std::string interface;                ///< as it was called at the start
    std::vector<Renaming> renamings;      ///< in order
    std::string source;                   ///< "sysfs", "prediction", ...
    std::string byte_unit;                ///< what one counted byte is, e.g. "device (without FCS)"
    std::chrono::nanoseconds interval{0}; ///< asked for; 0 when the samples follow no grid (prediction)
    std::int64_t start_monotonic_ns = 0;  ///< CLOCK_MONOTONIC at t_ns = 0
    std::int64_t start_realtime_ns = 0;   ///< CLOCK_REALTIME at the same moment
    ClockFacts clocks;
    TimeKeeping time_keeping; ///< before the start
    std::uint64_t missed = 0; ///< ticks that were skipped because the sampler woke too late
    std::uint64_t failed = 0; ///< reads that failed or did not fit into the ring
    /// In the files when recording ended; none: it has not, or nobody counted (prediction).
    std::optional<std::uint64_t> samples;
    bool complete = false; ///< false: the sampler was killed before it could finish the file
    std::string reason;    ///< why recording ended: "duration", "stopped", "signal 15", ...
    /// From then to the end, in the time of the trace, the counters could not be read (`reason` says why).
    std::optional<std::chrono::nanoseconds> lost_from;
    std::string driver;        ///< what counts: "loopback", "virtual", "mlx5_core"; empty if unknown
    std::string version;       ///< version of the program that wrote the trace
    std::string side;          ///< of which queue (shaper) the counters count; empty if unknown
    std::string source_reason; ///< why this source and no other
    std::string build_type;    ///< and how it was built: a debug build is not for measuring
    SamplerFacts sampler;

    bool operator==(const TraceInfo&) const = default;
};

/// NIC counters over time.
struct Trace {
    TraceInfo info;
    std::vector<Sample> samples;
};

/// Whether `samples`, all that the files of a trace hold, are what was recorded; none: nobody counted that.
inline std::optional<bool> is_whole(const TraceInfo& info, std::uint64_t samples) {
    return info.samples ? std::optional(*info.samples == samples) : std::nullopt;
}

/// One reading of one counter: the value held at some instant within [begin_ns, end_ns].
struct Reading {
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;
    std::uint64_t bytes = 0;
    bool new_segment = false;

    bool operator==(const Reading&) const = default;
};

/// One direction of a sample; `new_segment` as its flag says.
inline Reading reading_of(const Sample& sample, Direction direction) {
    const bool anew = (sample.flags & SampleFlag::new_segment) != 0;
    const std::int64_t middle = sample.t_ns + sample.rx_width_ns;
    if (direction == Direction::rx)
        return {sample.t_ns, middle, sample.rx_bytes, anew};
    return {middle, middle + sample.tx_width_ns, sample.tx_bytes, anew};
}

/// The readings of one direction whose windows lie inside [from, to] (trace time). A counter that fell starts
/// a segment even if no flag says so.
std::vector<Reading> readings(const Trace& trace, Direction direction,
                              std::chrono::nanoseconds from = std::chrono::nanoseconds::min(),
                              std::chrono::nanoseconds to = std::chrono::nanoseconds::max());

} // namespace collectors
