#include "tools/chart_bins.hpp"

#include <algorithm>
#include <cmath>

namespace tools {

void ChartBin::add(double value) {
    add(ChartBin{value, value, value, 1});
}

void ChartBin::add(const ChartBin& other) {
    if (other.count == 0)
        return;
    least = count == 0 ? other.least : std::min(least, other.least);
    most = count == 0 ? other.most : std::max(most, other.most);
    sum += other.sum;
    count += other.count;
}

void ChartBins::add(std::int64_t index, double value) {
    if (bins_.empty())
        first_ = index;
    index = std::max(index, first_);
    while ((index - first_) / width_ >= static_cast<std::int64_t>(most_bins_)) {
        for (std::size_t i = 0; i < bins_.size(); i += 2) {
            ChartBin pair = bins_[i];
            if (i + 1 < bins_.size())
                pair.add(bins_[i + 1]);
            bins_[i / 2] = pair;
        }
        bins_.resize((bins_.size() + 1) / 2);
        width_ *= 2;
    }
    const auto bin = static_cast<std::size_t>((index - first_) / width_);
    if (bin >= bins_.size())
        bins_.resize(bin + 1);
    const bool is_first = bins_.size() == 1 && bins_[0].count == 0;
    if (is_first || value > largest_) {
        largest_ = value;
        largest_at_ = index;
    }
    bins_[bin].add(value);
}

FineValues::FineValues(ChartStretch stretch)
    : stretch_(stretch),
      values_(static_cast<std::size_t>(std::max<std::int64_t>(0, stretch.last - stretch.first))) {}

void FineValues::add(std::int64_t index, double value) {
    if (!stretch_.contains(index))
        return;
    std::optional<double>& known = values_[static_cast<std::size_t>(index - stretch_.first)];
    known = std::max(known.value_or(value), value);
}

std::vector<double> order_statistics(std::span<const double> sorted, std::size_t most) {
    if (sorted.size() <= most)
        return {sorted.begin(), sorted.end()};
    std::vector<double> result;
    for (std::size_t i = 0; i < most; ++i)
        result.push_back(sorted[i * (sorted.size() - 1) / (most - 1)]);
    return result;
}

double rounded(double value, int digits) {
    if (value == 0 || !std::isfinite(value))
        return 0;
    const double power =
        std::pow(10.0, digits - 1 - static_cast<int>(std::floor(std::log10(std::abs(value)))));
    return std::round(value * power) / power;
}

} // namespace tools
