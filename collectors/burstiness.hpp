#pragma once

#include "collectors/trace.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

/// Burst metrics of one counter. Pure: no clock, no file.
/// A(t) is the counter; each reading i is only known to lie within [b_i, e_i]. Differences never span a
/// segment.
namespace collectors {

/// Bytes that are certain (lower, upper) and likely (estimate).
struct Bounds {
    double lower = 0;
    double estimate = 0;
    double upper = 0;
};

/// E(tau), the most bytes seen in any window of length tau (arXiv 2401.00329).
struct BurstinessPoint {
    std::chrono::nanoseconds window{0};
    Bounds bytes;
    /// False below the scale that the readings resolve (see `resolved_from`), or when the trace is shorter
    /// than the window: then the numbers must not be shown.
    bool resolved = false;
};

struct BurstinessCurve {
    std::vector<BurstinessPoint> points;
    std::chrono::nanoseconds resolved_from{0}; ///< smallest window that is resolved
    std::chrono::nanoseconds span{0}; ///< recorded time, midpoint of the first to that of the last reading
    std::chrono::nanoseconds longest_segment{0}; ///< the longest window of which anything can be known
    std::uint64_t total_bytes = 0;               ///< sum of increments over all segments
    double mean_bytes_per_second = 0;            ///< total_bytes / span; 0 for fewer than two readings
};

/// E(tau) for each window, over windows inside the recorded time: between the (unknown) instants at which the
/// first and the last reading were taken. A window that reaches out of it or across a segment boundary is not
/// considered, for nobody knows what it held.
///   lower    max { A_j - A_i : e_j - b_i <= tau }: certified, never above the truth
///   upper    max over i of A_k - A_i, k the first reading with b_k >= e_(i+1) + tau (a window that starts
///   between
///            reads i and i+1 ends before k), the last reading if there is no such k
///   estimate linear interpolation between the midpoints of neighbouring readings, windows that begin or end
///   at a
///            midpoint (the supremum of a piecewise linear difference lies there), clamped into [lower,
///            upper]
/// A window longer than the longest segment is unresolved, as is one below `resolved_from`. Readings that all
/// have zero width are the corners of a piecewise linear A(t) (a prediction): the estimate is exact there and
/// every window up to it is resolved.
BurstinessCurve burstiness_curve(std::span<const Reading> readings,
                                 std::span<const std::chrono::nanoseconds> windows,
                                 std::optional<std::chrono::nanoseconds> refresh_period = std::nullopt);

/// The smallest window of which such readings can tell: 10 times the median distance between them (to 2
/// significant digits), or twice `refresh_period` if the counter moves no faster than that (see
/// `refresh_period.hpp`).
std::chrono::nanoseconds resolved_from(std::chrono::nanoseconds median_distance,
                                       std::optional<std::chrono::nanoseconds> refresh_period);

/// PtM(tau) = E(tau) / (tau x mean rate), for each of the three. All 0 when the mean is 0.
Bounds peak_to_mean(const BurstinessCurve& curve, const BurstinessPoint& point);

/// B_max(r), the largest queue if the counted traffic fed a link of rate r, whose queue was empty at the
/// first reading of each segment.
///   lower    max { A_j - A_i - r (e_j - b_i) }: certified
///   upper    max { A_k - A_i - r max(0, b_(k-1) - e_(i+1)) }: certified; a queue that begins to grow between
///            reads i and i+1 and is longest between k-1 and k holds no more
///   estimate by midpoints (Lindley's recursion)
Bounds max_backlog(std::span<const Reading> readings, BitRate rate);

/// The windows that reports show: 1, 2, 5, 10, 20, 50, 100, 200, 500 ms and 1 s.
std::span<const std::chrono::nanoseconds> standard_windows();

} // namespace collectors
