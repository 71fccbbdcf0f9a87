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
    /// Two readings farther apart than `longest_distance` (0: any distance will do) are a gap, and nobody
    /// knows whether a pause went on in it.
    BurstStatistics(double threshold_bits_per_second, std::chrono::nanoseconds merge_gap,
                    std::chrono::nanoseconds longest_distance);

    void add(std::span<const Reading> readings);
    /// Of all readings so far; `curve` of the same readings gives the span and the bytes that shares are of.
    BurstSummary summary(const BurstinessCurve& curve) const;

private:
    void count(const Burst& burst);
    void note_gap(const Reading& reading);

    double threshold_bits_per_second_;
    std::chrono::nanoseconds merge_gap_;
    BurstFinder finder_;
    Histogram lengths_;
    Histogram volumes_;
    Histogram pauses_;
    std::optional<Burst> last_;
    std::chrono::nanoseconds longest_distance_;
    std::optional<Reading> previous_;
    std::optional<std::chrono::nanoseconds> first_gap_; ///< after the last burst
    std::optional<std::chrono::nanoseconds> last_gap_;
};

} // namespace collectors
