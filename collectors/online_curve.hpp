#pragma once

#include "collectors/burstiness.hpp"
#include "collectors/histogram.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace collectors {

/// The burstiness curve while readings arrive, exactly as `burstiness_curve` defines it, which is made of
/// this: the numbers do not depend on how the readings are cut into blocks. Each window keeps four places in
/// the recent past; memory is 32 bytes for each reading within about twice the longest window (1 s of
/// readings each 100 us: 0.7 MB), whatever the length of the trace. Time is at most 8 ns per reading and
/// window; a stretch that cannot beat what was already seen is passed in a tenth of that.
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
    /// A reading of the current segment. Instants are doubled where midpoints are meant: whole numbers.
    struct Point {
        std::int64_t begin;
        std::int64_t end;
        std::uint64_t bytes;              ///< since the first reading of the segment
        double bytes_per_half_nanosecond; ///< from the midpoint before to this one
        std::int64_t twice_midpoint() const { return begin + end; }
    };

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
        std::size_t open_possible = 0;
        std::size_t open_likely = 0;

        std::size_t oldest() const;
    };

    void begin_segment(const Reading& first);
    /// Length of the current segment.
    std::int64_t segment_half_nanoseconds() const;
    void append(const Reading& reading);
    void extend(Scale& scale, std::size_t first) const;
    bool pass_by(Scale& scale, std::size_t last) const;
    Bounds total(const Scale& scale) const;
    void forget();

    std::vector<Point> points_;      ///< of the current segment, from the oldest that a window needs on
    std::uint64_t forgotten_ = 0;    ///< points of the current segment before those
    std::uint64_t segment_base_ = 0; ///< the counter at the first reading of the segment
    std::int64_t segment_begin_ = 0; ///< twice the midpoint of that reading
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
