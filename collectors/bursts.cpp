#include "collectors/burstiness.hpp"
#include "collectors/segments.hpp"

#include <cmath>

namespace collectors {

namespace {

std::chrono::nanoseconds rounded(double instant_ns) {
    return std::chrono::nanoseconds{std::llround(instant_ns)};
}

/// A burst is a range of readings; what passed between two that were merged belongs to it.
struct Range {
    std::size_t first;
    std::size_t last;
};

std::vector<Range> ranges_above(std::span<const Reading> segment, double bytes_per_ns, double merge_gap_ns) {
    std::vector<Range> ranges;
    for (std::size_t i = 1; i < segment.size(); ++i) {
        const double elapsed = midpoint_ns(segment[i]) - midpoint_ns(segment[i - 1]);
        const double arrived = static_cast<double>(segment[i].bytes - segment[i - 1].bytes);
        if (arrived <= bytes_per_ns * elapsed)
            continue;
        const bool adjacent = !ranges.empty() && ranges.back().last == i - 1;
        const bool near =
            !ranges.empty() &&
            midpoint_ns(segment[i - 1]) - midpoint_ns(segment[ranges.back().last]) < merge_gap_ns;
        if (adjacent || near)
            ranges.back().last = i;
        else
            ranges.push_back({i - 1, i});
    }
    return ranges;
}

} // namespace

std::vector<Burst> find_bursts(std::span<const Reading> readings, BitRate threshold,
                               std::chrono::nanoseconds merge_gap) {
    const double bytes_per_ns = threshold.bytes_per_second() / 1e9;
    std::vector<Burst> bursts;
    for (const auto& segment : segments(readings)) {
        for (const Range& range : ranges_above(segment, bytes_per_ns, static_cast<double>(merge_gap.count())))
            bursts.push_back({rounded(midpoint_ns(segment[range.first])),
                              rounded(midpoint_ns(segment[range.last])),
                              static_cast<double>(segment[range.last].bytes - segment[range.first].bytes)});
    }
    return bursts;
}

} // namespace collectors
