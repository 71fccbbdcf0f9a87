#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace collectors {

/// A reading of one segment of a trace. Instants are doubled where midpoints are meant: whole numbers.
struct CurvePoint {
    std::int64_t begin = 0;
    std::int64_t end = 0;
    std::uint64_t bytes = 0;              ///< since the first reading of the segment
    double bytes_per_half_nanosecond = 0; ///< from the midpoint before to this one

    std::int64_t twice_midpoint() const { return begin + end; }
};

/// The recent past of one segment, and how much any window can have seen in it. For each rate r
///   A_j - A_i = (A_j - r t_j) - (A_i - r t_i) + r (t_j - t_i),
/// so where the counter stays near a line of slope r, a window of length tau holds little more than r tau.
/// How far it strays from such a line is known for stretches of `stretch` points, which serves all windows.
class CurvePoints {
public:
    static constexpr std::size_t stretch = 64;

    /// How far the points of a stretch lie above the line through its first point, in bytes.
    struct Stray {
        double highest_end = -std::numeric_limits<double>::infinity();
        double lowest_start = std::numeric_limits<double>::infinity();
    };

    /// The instants between which a bound of the curve measures its windows differ, and so do the strays.
    struct Strays {
        Stray certain;  ///< from the begin of a reading to the end of another one
        Stray likely;   ///< from midpoint to midpoint
        Stray possible; ///< from the end of the next reading to the begin of the one before
    };

    /// The points at which windows may start, both included.
    struct Starts {
        std::size_t oldest = 0;
        std::size_t newest = 0;
    };

    const CurvePoint& operator[](std::size_t index) const { return points_[index]; }
    const CurvePoint& back() const { return points_.back(); }
    const CurvePoint* data() const { return points_.data(); }
    std::span<const CurvePoint> between(std::size_t begin, std::size_t end) const {
        return std::span(points_).subspan(begin, end - begin);
    }
    std::size_t size() const { return points_.size(); }
    bool empty() const { return points_.empty(); }

    /// Length of the segment so far.
    std::int64_t half_nanoseconds() const { return points_.back().twice_midpoint() - segment_begin_; }

    /// A new segment begins.
    void clear();
    void append(std::int64_t begin, std::int64_t end, std::uint64_t bytes);
    /// Drops whole stretches before `oldest`; returns the number of points that are gone.
    std::size_t forget(std::size_t oldest);
    /// Points of the segment that are no longer in memory.
    std::uint64_t forgotten() const { return forgotten_; }
    /// The line follows the mean rate of the segment, as often as the segment has doubled.
    void turn_line();

    /// False if no window of that length that begins at one of `starts` and ends in the stretch of `last`, at
    /// `last` at the latest, holds so many bytes.
    bool may_hold(double bytes, Stray Strays::*bound, Starts starts, std::size_t last,
                  std::int64_t window) const;

private:
    void measure(std::size_t index);
    double stray(std::size_t of_stretch, std::uint64_t bytes, std::int64_t twice_instant) const;

    std::vector<CurvePoint> points_;
    std::vector<Strays> strays_; ///< of the stretches
    double slope_ = 0;           ///< of the line, in bytes per half nanosecond
    std::uint64_t forgotten_ = 0;
    std::uint64_t turned_at_ = 0;    ///< points that the segment had when the line was turned
    std::int64_t segment_begin_ = 0; ///< twice the midpoint of its first point
};

} // namespace collectors
