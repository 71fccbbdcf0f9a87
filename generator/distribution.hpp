#pragma once

#include <optional>
#include <vector>

namespace generator {

/// Order statistics by the nearest-rank method.
struct Distribution {
    double mean = 0;
    double p50 = 0;
    double p95 = 0;
    double p99 = 0;
    double max = 0;
};

/// nullopt for no values.
std::optional<Distribution> distribution(std::vector<double> values);

} // namespace generator
