#pragma once

#include "collectors/bursts.hpp"
#include "collectors/histogram.hpp"
#include "collectors/summary.hpp"

#include <optional>
#include <span>

namespace collectors {

/// Counts and measures the bursts above a threshold while readings arrive, in bounded memory: percentiles are
/// within 0.1 % (see Histogram).
class BurstStatistics {
public:
    BurstStatistics(double threshold_bits_per_second, std::chrono::nanoseconds merge_gap);

    void add(std::span<const Reading> readings);
    /// Of all readings so far; `curve` of the same readings gives the span and the bytes that shares are of.
    BurstSummary summary(const BurstinessCurve& curve) const;

private:
    void count(const Burst& burst);

    double threshold_bits_per_second_;
    std::chrono::nanoseconds merge_gap_;
    BurstFinder finder_;
    Histogram lengths_;
    Histogram volumes_;
    Histogram pauses_;
    std::optional<Burst> last_;
};

} // namespace collectors
