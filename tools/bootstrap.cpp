#include "tools/bootstrap.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

namespace tools {
namespace {

/// The smallest whole number that is not below share * count, at least 1.
std::size_t nearest_rank(double share, std::size_t count) {
    return std::max<std::size_t>(static_cast<std::size_t>(std::ceil(share * static_cast<double>(count))), 1);
}

/// Of values that may be reordered.
double statistic_of(const Statistic& statistic, std::vector<double>& values) {
    if (statistic.kind == Statistic::Kind::mean)
        return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
    const auto place =
        values.begin() + static_cast<std::ptrdiff_t>(nearest_rank(statistic.share, values.size()) - 1);
    std::nth_element(values.begin(), place, values.end());
    return *place;
}

/// Draws series of the same length from one series, again and again.
class Resampler {
public:
    explicit Resampler(std::span<const double> values)
        : values_(values),
          block_(static_cast<std::size_t>(std::ceil(std::cbrt(static_cast<double>(values.size()))))),
          start_(0, values.size() - 1) {}

    std::vector<double>& draw(std::mt19937_64& random) {
        drawn_.clear();
        while (drawn_.size() < values_.size()) {
            std::size_t at = start_(random);
            for (std::size_t i = 0; i < block_ && drawn_.size() < values_.size(); ++i) {
                drawn_.push_back(values_[at]);
                at = at + 1 == values_.size() ? 0 : at + 1;
            }
        }
        return drawn_;
    }

private:
    std::span<const double> values_;
    std::size_t block_;
    std::uniform_int_distribution<std::size_t> start_;
    std::vector<double> drawn_;
};

} // namespace

double Statistic::of(std::span<const double> values) const {
    std::vector<double> copy(values.begin(), values.end());
    return statistic_of(*this, copy);
}

std::size_t Statistic::least_values() const {
    constexpr std::size_t few = 8;
    if (kind == Kind::mean)
        return few;
    // Some five values have to lie beyond a quantile.
    return std::max(few, static_cast<std::size_t>(std::llround(5 / std::min(share, 1 - share))));
}

std::optional<Interval> difference_interval(std::span<const double> baseline, std::span<const double> run,
                                            const Statistic& statistic, const BootstrapSettings& settings) {
    if (std::min(baseline.size(), run.size()) < statistic.least_values())
        return std::nullopt;
    std::mt19937_64 random(settings.seed);
    Resampler of_baseline(baseline);
    Resampler of_run(run);
    std::vector<double> differences(settings.resamples);
    for (double& difference : differences) {
        const double before = statistic_of(statistic, of_baseline.draw(random));
        difference = statistic_of(statistic, of_run.draw(random)) - before;
    }
    std::sort(differences.begin(), differences.end());
    const double tail = (1 - settings.level) / 2;
    return Interval{differences[nearest_rank(tail, differences.size()) - 1],
                    differences[nearest_rank(1 - tail, differences.size()) - 1]};
}

} // namespace tools
