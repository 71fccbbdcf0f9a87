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

    /// Calls `cell(std::optional<double> bytes)` for each cell that is over, in order.
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
            if (anew)
                left_.reset();
            for (; boundary() <= now; ++next_) {
                const std::optional<double> before = boundary() == now ? std::optional(arrived)
                                                     : anew            ? std::nullopt
                                                            : interpolated(reading, boundary(), arrived);
                cell(left_ && before ? std::optional(*left_ + *before) : std::nullopt);
                left_ = before ? std::optional(-*before) : std::nullopt;
            }
            if (left_)
                *left_ += arrived;
        }
        previous_ = reading;
    }

private:
    double boundary() const { return origin_ + cell_ns_ * static_cast<double>(next_); }

    /// Of the bytes that arrived since the previous reading, those until an instant before this one.
    std::optional<double> interpolated(const Reading& reading, double instant, double arrived) const {
        const double before = midpoint_ns(*previous_);
        const double elapsed = midpoint_ns(reading) - before;
        const bool exact = reading.begin_ns == reading.end_ns && previous_->begin_ns == previous_->end_ns;
        if (!exact && elapsed >= 2 * cell_ns_)
            return std::nullopt;
        return arrived * (instant - before) / elapsed;
    }

    double cell_ns_;
    double origin_ = 0;
    std::int64_t next_ = 0; ///< the boundary that comes next: origin + next cells
    /// Bytes from the last boundary to the previous reading; none if nobody knows.
    std::optional<double> left_;
    std::optional<Reading> previous_;
};

} // namespace collectors
