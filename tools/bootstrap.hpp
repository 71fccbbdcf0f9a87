#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace tools {

/// What is compared between two series of values.
struct Statistic {
    enum class Kind { mean, quantile } kind = Kind::mean;
    double share = 0.5; ///< of a quantile, by nearest rank

    double of(std::span<const double> values) const;
    /// Below so many values in a series an interval means nothing.
    std::size_t least_values() const;
};

struct BootstrapSettings {
    std::size_t resamples = 10'000;
    std::uint64_t seed = 1;
    double level = 0.95;
};

struct Interval {
    double lower = 0;
    double upper = 0;
};

/// Percentile interval of statistic(run) - statistic(baseline) by the circular block bootstrap (Politis and
/// Romano, 1992): blocks of ceil(n^(1/3)) successive values are drawn, so that what holds on from one
/// iteration to the next widens the interval. nullopt when a series has too few values. Pure: the same seed
/// gives the same interval.
std::optional<Interval> difference_interval(std::span<const double> baseline, std::span<const double> run,
                                            const Statistic& statistic,
                                            const BootstrapSettings& settings = {});

} // namespace tools
