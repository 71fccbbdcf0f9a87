#include "tools/draw_statistics.hpp"

#include <algorithm>
#include <cmath>

namespace tools {
namespace {

constexpr double normal_quantile = 1.959963985; // of 97.5 %

} // namespace

Probability probability(std::size_t successes, std::size_t count) {
    const auto n = static_cast<double>(count);
    const double share = static_cast<double>(successes) / n;
    const double z2 = normal_quantile * normal_quantile;
    const double middle = (share + z2 / (2 * n)) / (1 + z2 / n);
    const double half =
        normal_quantile / (1 + z2 / n) * std::sqrt(share * (1 - share) / n + z2 / (4 * n * n));
    // At 0 and 1 the bound is exact; rounding must not say otherwise.
    return {share, successes == 0 ? 0 : std::max(0.0, middle - half),
            successes == count ? 1 : std::min(1.0, middle + half)};
}

double quantile(std::span<const double> sorted, double share) {
    const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size())));
    return sorted[std::clamp<std::size_t>(rank, 1, sorted.size()) - 1];
}

std::optional<QuantileRange> quantile_range(std::span<const double> sorted, double share) {
    const auto n = static_cast<double>(sorted.size());
    const double half = normal_quantile * std::sqrt(n * share * (1 - share));
    const double lower = std::floor(n * share - half); // ranks from 1 on
    const double upper = std::ceil(n * share + half) + 1;
    if (lower < 1 || upper > n)
        return std::nullopt;
    return QuantileRange{sorted[static_cast<std::size_t>(lower) - 1],
                         sorted[static_cast<std::size_t>(upper) - 1]};
}

} // namespace tools
