#include "generator/distribution.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace generator {

std::optional<Distribution> distribution(std::vector<double> values) {
    if (values.empty())
        return std::nullopt;
    std::sort(values.begin(), values.end());
    const auto quantile = [&](double share) {
        const double rank = std::ceil(share * static_cast<double>(values.size()));
        return values[static_cast<std::size_t>(std::max(rank, 1.0)) - 1];
    };
    return Distribution{.mean = std::accumulate(values.begin(), values.end(), 0.0) /
                                static_cast<double>(values.size()),
                        .p50 = quantile(0.50),
                        .p95 = quantile(0.95),
                        .p99 = quantile(0.99),
                        .max = values.back()};
}

} // namespace generator
