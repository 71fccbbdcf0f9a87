#pragma once

#include "collectors/burstiness.hpp"
#include "collectors/curve_points.hpp"
#include "collectors/histogram.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace collectors {

/// The burstiness curve while readings arrive, exactly as `burstiness_curve` defines it, which is made of
/// this: the numbers do not depend on how the readings are cut into blocks. Each window keeps three places in
/// the recent past; memory is 33 bytes for each reading within about twice the longest window (1 s of
/// readings each 100 us: 0.7 MB), whatever the length of the trace. Time per reading and window is 1 to 4 ns,
/// about twice that for readings on an exact grid at a constant rate: all windows are nearly equal then, and
/// no stretch of readings can be passed without a look at each.
class OnlineCurve {
public:
    explicit OnlineCurve(std::span<const std::chrono::nanoseconds> windows);

    /// The next readings of the trace, in any number.
    void add(std::span<const Reading> readings);
    /// Of all readings so far; costs a walk over the windows only, may be asked at any time.
    BurstinessCurve curve(std::optional<std::chrono::nanoseconds> refresh_period = std::nullopt) const;
    /// Readings held in memory.
    std::size_t held() const { return points_.size(); }

private:
    /// What one window has seen in the current segment, and the points from which it goes on: see
    /// online_curve.cpp.
    struct Scale {
        std::int64_t window = 0;
        Bounds earlier; ///< of the segments before
        std::uint64_t certain = 0;
        std::uint64_t possible = 0;
        double likely = 0;
        std::size_t certain_start = 0;
        std::size_t likely_start = 0;
        std::size_t possible_start = 0;

        std::size_t oldest() const;
    };

    void begin_segment(const Reading& first);
    void extend(Scale& scale, std::size_t first) const;
    void extend_certain(Scale& scale, std::size_t begin, std::size_t end) const;
    void extend_likely(Scale& scale, std::size_t begin, std::size_t end) const;
    void extend_possible(Scale& scale, std::size_t begin, std::size_t end) const;
    Bounds total(const Scale& scale) const;
    void forget();

    CurvePoints points_;             ///< of the current segment, from the oldest that a window needs on
    std::uint64_t segment_base_ = 0; ///< the counter at the first reading of the segment
    std::vector<Scale> scales_;

    Histogram distances_; ///< between the begins of successive readings
    bool exact_ = true;   ///< no reading had a width so far
    std::uint64_t count_ = 0;
    std::uint64_t earlier_bytes_ = 0; ///< of the segments before
    std::int64_t earlier_half_nanoseconds_ = 0;
    std::optional<Reading> first_;
    std::optional<Reading> last_;
};

} // namespace collectors
