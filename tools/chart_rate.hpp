#pragma once

#include "collectors/trace.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

namespace tools {

/// From readings of a byte counter to bytes in the bins of a grid, by linear interpolation between
/// successive readings. A bin is known once it is covered from end to end: not where the counter started
/// anew, nor where readings are more than `longest_distance_ns` apart. A gap is a gap, never a peak.
class RateGrid {
public:
    /// Called with the index of a bin (its begin / step) and the bytes in it, in order.
    using Known = std::function<void(std::int64_t index, double bytes)>;

    /// `offset_ns` is added to the time of each reading; `longest_distance_ns` 0: no distance is a gap.
    RateGrid(std::int64_t step_ns, std::int64_t offset_ns, std::int64_t longest_distance_ns, Known known);

    void add(const collectors::Reading& reading);

private:
    void cover(std::int64_t from_ns, std::int64_t to_ns, double bytes_per_ns);

    std::int64_t step_ns_;
    std::int64_t offset_ns_;
    std::int64_t longest_distance_ns_;
    Known known_;
    std::optional<collectors::Reading> previous_;
    std::int64_t bin_ = 0; ///< that is being filled
    std::int64_t covered_ns_ = 0;
    double bytes_ = 0;
};

/// The grid on which a trace is drawn: 1 ms, or the sampling interval in whole milliseconds where that is
/// longer.
std::int64_t chart_step_ns(const collectors::TraceInfo& info);

/// A distance of more than two intervals is a gap (see collectors::Gaps); 0 where the trace has no interval.
std::int64_t chart_longest_distance_ns(const collectors::TraceInfo& info);

} // namespace tools
