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
            next_ = 1;
        } else {
            const bool anew = starts_segment(reading, *previous_);
            const double arrived = anew ? 0 : static_cast<double>(reading.bytes - previous_->bytes);
            if (anew || is_hole(reading)) {
                skip_to(now, cell);
            } else {
                for (; boundary() <= now; ++next_) {
                    const double before =
                        boundary() == now ? arrived : interpolated(now, boundary(), arrived);
                    cell(left_ ? std::optional(*left_ + before) : std::nullopt, std::uint64_t{1});
                    left_ = -before;
                }
                if (left_)
                    *left_ += arrived;
            }
        }
        previous_ = reading;
    }

private:
    double boundary() const { return origin_ + cell_ns_ * static_cast<double>(next_); }

    bool is_hole(const Reading& reading) const {
        const bool exact = reading.begin_ns == reading.end_ns && previous_->begin_ns == previous_->end_ns;
        return !exact && midpoint_ns(reading) - midpoint_ns(*previous_) >= 2 * cell_ns_;
    }

    /// Over cells of which nobody knows what they held, however many.
    template <typename Cell>
    void skip_to(double now, Cell& cell) {
        left_.reset();
        if (boundary() > now)
            return;
        const auto count = static_cast<std::int64_t>((now - boundary()) / cell_ns_) + 1;
        cell(std::nullopt, static_cast<std::uint64_t>(count));
        next_ += count;
        if (boundary() - cell_ns_ == now)
            left_ = 0.0;
    }

    /// Of the bytes that arrived since the previous reading, those until an instant before this one.
    double interpolated(double now, double instant, double arrived) const {
        const double before = midpoint_ns(*previous_);
        return arrived * (instant - before) / (now - before);
    }

    double cell_ns_;
    double origin_ = 0;
    std::int64_t next_ = 0; ///< the boundary that comes next: origin + next cells
    /// Bytes from the last boundary to the previous reading; none if nobody knows.
    std::optional<double> left_;
    std::optional<Reading> previous_;
};

} // namespace collectors
