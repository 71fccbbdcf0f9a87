#pragma once

#include "collectors/grid_counter.hpp"

#include <chrono>
#include <optional>
#include <span>
#include <vector>

namespace collectors {

/// Bytes in consecutive cells of equal length in bounded memory: when there are more cells than `most_cells`,
/// each two become one. Cells of which nobody knows what they held stay empty.
class ActivitySeries {
public:
    explicit ActivitySeries(std::chrono::nanoseconds cell, std::size_t most_cells = 65'536);

    void add(std::span<const Reading> readings);
    std::chrono::nanoseconds cell() const { return cell_ * static_cast<std::int64_t>(merged_); }
    std::span<const std::optional<double>> bytes() const { return cells_; }

private:
    void add_cells(std::optional<double> bytes, std::uint64_t count);

    std::chrono::nanoseconds cell_; ///< of the grid
    std::size_t most_cells_;
    GridCounter grid_;
    std::size_t merged_ = 1; ///< cells of the grid in one of `cells_`
    std::size_t pending_count_ = 0;
    std::optional<double> pending_ = 0.0;
    std::vector<std::optional<double>> cells_;
};

struct Period {
    std::chrono::nanoseconds length{0};
    double autocorrelation = 0; ///< of the traffic with itself one period later (in whole cells), at most 1
};

/// The period of the traffic, by the sample autocorrelation of the series (the biased estimate of Box and
/// Jenkins, "Time Series Analysis", section 2.1; empty cells count as the mean): after it fell to 0 for the
/// first time, the first peak that reaches 90 % of the highest one, if that is at least 0.3 and five periods
/// fit into the series. A single distance between two of few bursts makes such a peak too: the peak must rest
/// on four repetitions, and the traffic must come back after twice the period as well. The length is made
/// finer than a cell by following the peak to its multiples.
std::optional<Period> find_period(std::span<const std::optional<double>> bytes,
                                  std::chrono::nanoseconds cell);

} // namespace collectors
