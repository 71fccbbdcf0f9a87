#pragma once

#include "tools/report_input.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tools {

/// One bucket of the measured iterations: its time in each of them, on the slowest rank.
struct BucketNumbers {
    std::uint32_t bucket = 0;
    std::uint64_t bytes = 0;
    std::vector<double> seconds;
};

struct RankNumbers {
    int rank = 0;
    std::vector<double> start_skew_seconds;         ///< of each bucket, behind the median rank
    std::optional<double> goodput_bytes_per_second; ///< payload sent / time in which a bucket was in flight
};

/// What a timeline says beside the sums of run.json.
struct TimelineNumbers {
    std::vector<double> iteration_seconds;      ///< in order, on the slowest rank
    std::vector<BucketNumbers> buckets;         ///< by number
    std::vector<double> lateness_seconds;       ///< of all bucket starts
    std::vector<double> worst_lateness_seconds; ///< of each iteration
    std::vector<RankNumbers> ranks;
    std::optional<double>
        overlap_fraction; ///< communication before a rank's last bucket was ready / all of it
};

/// Of iterations `first` to `last - 1`, which every rank finished. `spans` are sorted as in ReportInput.
/// Pure.
TimelineNumbers timeline_numbers(std::span<const BucketSpan> spans, std::uint32_t first, std::uint32_t last);

/// Jain's fairness index, (sum x)^2 / (n sum x^2): 1 when all are equal, 1/n when one has it all. nullopt for
/// no values, or only zeros.
std::optional<double> fairness_index(std::span<const double> values);

/// Standard deviation (n - 1) / mean; nullopt below two values.
std::optional<double> coefficient_of_variation(std::span<const double> values);

} // namespace tools
