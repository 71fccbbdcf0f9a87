#pragma once

#include "collectors/trace.hpp"

#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace collectors {

/// A stretch of traffic above a threshold rate.
struct Burst {
    std::chrono::nanoseconds begin{0};
    std::chrono::nanoseconds end{0};
    double bytes = 0;

    std::chrono::nanoseconds length() const { return end - begin; }
};

/// Bursts while readings arrive: maximal runs of reading-to-reading stretches whose mean rate is above
/// `threshold`; two runs less than `merge_gap` apart are one burst, and no burst spans a counter that started
/// anew. By midpoints: each end is uncertain by one distance between readings.
class BurstFinder {
public:
    BurstFinder(BitRate threshold, std::chrono::nanoseconds merge_gap);

    using Found = std::function<void(const Burst&)>;
    /// The next readings of the trace; calls `found` for each burst that is over.
    void add(std::span<const Reading> readings, const Found& found);
    /// The trace is over: the last burst may end with it.
    void finish(const Found& found);

private:
    double bytes_per_ns_;
    double merge_gap_ns_;
    std::optional<Reading> previous_;
    std::optional<Reading> first_; ///< of the burst that may still go on
    Reading last_;                 ///< and the last reading that belongs to it
};

/// All bursts of a whole trace.
std::vector<Burst> find_bursts(std::span<const Reading> readings, BitRate threshold,
                               std::chrono::nanoseconds merge_gap);

} // namespace collectors
