#include "collectors/burstiness.hpp"
#include "collectors/segments.hpp"

#include <algorithm>

namespace collectors {

namespace {

double nanoseconds_since(std::int64_t instant_ns, const Reading& origin) {
    return static_cast<double>(instant_ns - origin.begin_ns);
}

/// max { A_j - A_i - r (e_j - b_i) } in one pass: the best i for each j is the one with the largest r b_i -
/// A_i.
double certain_backlog(std::span<const Reading> segment, double bytes_per_ns) {
    double most = 0;
    double best_start = 0;
    for (const Reading& reading : segment) {
        const double bytes = static_cast<double>(reading.bytes - segment.front().bytes);
        best_start =
            std::max(best_start, bytes_per_ns * nanoseconds_since(reading.begin_ns, segment.front()) - bytes);
        most = std::max(most, bytes - bytes_per_ns * nanoseconds_since(reading.end_ns, segment.front()) +
                                  best_start);
    }
    return most;
}

/// Lindley recursion: the queue grows by what arrived, shrinks by what the link sent, and never falls below
/// zero.
double likely_backlog(std::span<const Reading> segment, double bytes_per_ns) {
    double most = 0;
    double queue = 0;
    for (std::size_t i = 1; i < segment.size(); ++i) {
        const double arrived = static_cast<double>(segment[i].bytes - segment[i - 1].bytes);
        const double elapsed = midpoint_ns(segment[i]) - midpoint_ns(segment[i - 1]);
        queue = std::max(0.0, queue + arrived - bytes_per_ns * elapsed);
        most = std::max(most, queue);
    }
    return most;
}

} // namespace

Bounds max_backlog(std::span<const Reading> readings, BitRate rate) {
    const double bytes_per_ns = rate.bytes_per_second() / 1e9;
    Bounds backlog;
    for (const auto& segment : segments(readings)) {
        backlog.lower = std::max(backlog.lower, certain_backlog(segment, bytes_per_ns));
        backlog.estimate = std::max(backlog.estimate, likely_backlog(segment, bytes_per_ns));
    }
    backlog.estimate = std::max(backlog.estimate, backlog.lower); // they may differ by rounding only
    backlog.upper = backlog.estimate;
    return backlog;
}

} // namespace collectors
