#pragma once

#include <cstddef>
#include <optional>
#include <span>

/// What independent draws tell, and how sure it is: intervals of 95 %.
namespace tools {

struct Probability {
    double share = 0; ///< of the draws
    double lower = 0;
    double upper = 1;
};

/// The interval is Wilson's (1927, score interval): right for shares near 0 and 1 as well. `count` is at
/// least 1.
Probability probability(std::size_t successes, std::size_t count);

/// A value that occurred, by nearest rank. `sorted` is not empty.
double quantile(std::span<const double> sorted, double share);

struct QuantileRange {
    double lower = 0;
    double upper = 0;
};

/// Between which order statistics the quantile of all possible draws lies (binomial ranks, David and
/// Nagaraja, "Order Statistics", section 7.1, by the normal approximation). None: there are too few draws to
/// tell.
std::optional<QuantileRange> quantile_range(std::span<const double> sorted, double share);

} // namespace tools
