#pragma once

#include "collectors/segments.hpp"

#include <cstdint>
#include <optional>

namespace collectors {

/// Cuts readings into consecutive cells of one length, the first of which begins at the first reading, and
/// says how many bytes each cell saw. A cell's ends are interpolated between the readings around them; if
/// these are two cells or more apart, or the counter started anew in between, nobody knows what the cell
/// held. Readings without width are corners of straight lines: what lies between them is known at any
/// distance.
class GridCounter {
public:
    explicit GridCounter(std::int64_t cell_ns) : cell_ns_(static_cast<double>(cell_ns)) {}

    /// Calls `cell(std::optional<double> bytes, std::uint64_t count)` for the cells that are over, in order:
    /// one that is known, or `count` in a row of which nothing is.
    template <typename Cell>
    void add(const Reading& reading, Cell&& cell) {
        const double now = midpoint_ns(reading);
        if (!previous_) {
            origin_ = now;
            left_ = 0.0;
            pass_boundaries(1);
        } else {
            const bool anew = starts_segment(reading, *previous_);
            const double arrived = anew ? 0 : static_cast<double>(reading.bytes - previous_->bytes);
            if (anew || is_hole(reading, now)) {
                skip_to(now, cell);
            } else {
                for (; boundary_ <= now; pass_boundaries(1)) {
                    const double before = boundary_ == now ? arrived : interpolated(now, boundary_, arrived);
                    cell(left_ ? std::optional(*left_ + before) : std::nullopt, std::uint64_t{1});
                    left_ = -before;
                }
                if (left_)
                    *left_ += arrived;
            }
        }
        previous_ = reading;
        previous_midpoint_ = now;
    }

private:
    void pass_boundaries(std::int64_t count) {
        next_ += count;
        boundary_ = origin_ + cell_ns_ * static_cast<double>(next_);
    }

    bool is_hole(const Reading& reading, double now) const {
        if (now - previous_midpoint_ < 2 * cell_ns_)
            return false;
        return reading.begin_ns != reading.end_ns || previous_->begin_ns != previous_->end_ns;
    }

    /// Over cells of which nobody knows what they held, however many.
    template <typename Cell>
    void skip_to(double now, Cell& cell) {
        left_.reset();
        if (boundary_ > now)
            return;
        const auto count = static_cast<std::int64_t>((now - boundary_) / cell_ns_) + 1;
        cell(std::nullopt, static_cast<std::uint64_t>(count));
        pass_boundaries(count);
        if (boundary_ - cell_ns_ == now)
            left_ = 0.0;
    }

    /// Of the bytes that arrived since the previous reading, those until an instant before this one.
    double interpolated(double now, double instant, double arrived) const {
        return arrived * (instant - previous_midpoint_) / (now - previous_midpoint_);
    }

    double cell_ns_;
    double origin_ = 0;
    std::int64_t next_ = 0; ///< number of the boundary that comes next
    double boundary_ = 0;   ///< and where it is: origin + next cells
    /// Bytes from the last boundary to the previous reading; none if nobody knows.
    std::optional<double> left_;
    std::optional<Reading> previous_;
    double previous_midpoint_ = 0;
};

} // namespace collectors
