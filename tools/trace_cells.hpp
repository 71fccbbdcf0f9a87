#pragma once

#include "collectors/trace.hpp"

#include <chrono>
#include <cstddef>
#include <optional>
#include <vector>

namespace tools {

/// The bytes of readings in the cells of a grid that begins at the first one. What came between two readings
/// is spread evenly over the time between their midpoints, however long that was: no byte is lost.
class TraceCells {
public:
    static constexpr double most_cells = 2e7; ///< 160 MB

    explicit TraceCells(std::chrono::nanoseconds cell) : cell_(static_cast<double>(cell.count())) {}

    /// Throws generator::UserError if there are too many cells.
    void add(const collectors::Reading& reading);

    double origin_ns() const { return origin_.value_or(0); }
    double length_ns() const { return end_ - origin_ns(); }
    /// Of the time, how much lies between readings that are more than two cells apart, or around a counter
    /// that started anew. Readings without width are corners of straight lines.
    double unknown_share() const { return length_ns() > 0 ? unknown_ / length_ns() : 0; }
    std::size_t restarts() const {
        return restarts_;
    } ///< of the counter; nothing is known to have come meanwhile
    /// The first `count` cells, which are gone then.
    std::vector<double> take(std::size_t count);

private:
    void spread(double from, double to, double bytes);

    double cell_;
    std::optional<double> origin_;
    double end_ = 0;
    std::optional<collectors::Reading> previous_;
    double unknown_ = 0; ///< ns
    std::size_t restarts_ = 0;
    std::vector<double> bytes_;
};

} // namespace tools
