#pragma once

#include "generator/schedule.hpp"
#include "generator/timeline.hpp"

#include <cstdint>
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

/// What the timelines of all ranks say together. Warm-up iterations and iterations that not every rank
/// finished are left out of everything but the byte counts.
struct RunStatistics {
    std::uint32_t finished_iterations = 0;         ///< by every rank, warm-up included
    std::uint32_t measured_iterations = 0;         ///< without warm-up
    std::optional<Distribution> iteration_seconds; ///< of each iteration, the slowest rank
    std::optional<Distribution>
        lateness_seconds; ///< of bucket starts, all ranks: how late we were, not the network
    std::optional<Distribution>
        bucket_seconds;               ///< all-reduces, the slowest rank: first byte allowed to last byte
    std::uint64_t sent_bytes = 0;     ///< payload, all ranks, the whole run
    std::uint64_t received_bytes = 0; ///< payload, all ranks, the whole run
    std::optional<double> algorithm_bytes_per_second; ///< sum of all-reduced bytes / sum of their durations
    std::optional<double> bus_bytes_per_second;       ///< 2(N-1)/N x algorithm bandwidth (nccl-tests)
};

RunStatistics run_statistics(const std::vector<Timeline>& timelines, const Workload& workload, int world_size,
                             std::uint32_t warmup);

constexpr std::string_view bandwidth_formula =
    "algorithm bandwidth = bucket bytes / time from the bucket's start to its last byte on the slowest rank, "
    "over all "
    "all-reduces together; bus bandwidth = 2(N-1)/N x algorithm bandwidth, for any algorithm (nccl-tests); "
    "what each rank of a ring sends per second";

} // namespace generator
