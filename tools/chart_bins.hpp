#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

/// Curves for drawing: few numbers, and no peak lost.
namespace tools {

/// The values that fell into a stretch of time.
struct ChartBin {
    double least = 0;
    double sum = 0;
    double most = 0;
    std::uint64_t count = 0; ///< 0: nothing is known of this stretch

    void add(double value);
    void add(const ChartBin& other);
    double mean() const { return sum / static_cast<double>(count); }
};

/// Values on a fine grid of time, kept in a bounded number of wider bins: whenever the time that passed asks
/// for more, two neighbours become one. Least, mean and largest survive that.
class ChartBins {
public:
    explicit ChartBins(std::size_t most_bins) : most_bins_(most_bins < 2 ? 2 : most_bins) {}

    /// Indices on the fine grid must not fall.
    void add(std::int64_t index, double value);

    std::int64_t first() const { return first_; } ///< fine index at which the first bin begins
    std::int64_t width() const { return width_; } ///< fine indices in one bin
    std::span<const ChartBin> bins() const { return bins_; }
    double largest() const { return largest_; }
    std::int64_t largest_at() const { return largest_at_; } ///< fine index

private:
    std::size_t most_bins_;
    std::vector<ChartBin> bins_;
    std::int64_t first_ = 0;
    std::int64_t width_ = 1;
    double largest_ = 0;
    std::int64_t largest_at_ = 0;
};

/// Fine indices [first, last).
struct ChartStretch {
    std::int64_t first = 0;
    std::int64_t last = 0;

    bool contains(std::int64_t index) const { return index >= first && index < last; }
    bool operator==(const ChartStretch&) const = default;
};

/// The largest value of each fine index inside a stretch; what is not known stays empty.
class FineValues {
public:
    explicit FineValues(ChartStretch stretch);

    void add(std::int64_t index, double value);
    const ChartStretch& stretch() const { return stretch_; }
    std::span<const std::optional<double>> values() const { return values_; }

private:
    ChartStretch stretch_;
    std::vector<std::optional<double>> values_;
};

/// At most `most` of the sorted values: the first, the last and others at even distances.
std::vector<double> order_statistics(std::span<const double> sorted, std::size_t most);

/// Rounded to that many significant digits: what a chart of 2,000 pixels can show.
double rounded(double value, int digits = 4);

} // namespace tools
