#pragma once

#include "generator/distribution.hpp"
#include "generator/gating.hpp"
#include "generator/schedule.hpp"
#include "generator/timeline.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace generator {

/// All collectives of one kind in the measured iterations. Those of several groups of ranks count once for
/// each.
struct CollectiveStatistics {
    Collective collective = Collective::all_reduce;
    std::uint64_t count = 0;
    std::uint64_t bytes = 0;                          ///< of their buffers, together
    std::optional<Distribution> seconds;              ///< the slowest rank: first byte allowed to last byte
    std::optional<double> algorithm_bytes_per_second; ///< bytes / sum of the durations; none for a lone rank
    std::optional<double> bus_bytes_per_second;       ///< see bus_factor
};

/// What the timelines of all ranks say together. Warm-up iterations and iterations that not every rank
/// finished are left out of everything but the byte counts.
struct RunStatistics {
    std::uint32_t finished_iterations = 0;         ///< by every rank, warm-up included
    std::uint32_t measured_iterations = 0;         ///< without warm-up
    std::optional<Distribution> iteration_seconds; ///< of each iteration, the slowest rank
    std::optional<Distribution>
        lateness_seconds; ///< of bucket starts, all ranks: how late we were, not the network
    std::vector<CollectiveStatistics> collectives; ///< of each kind that was measured
    std::vector<Gate> gates;                       ///< of the measured iterations
    std::uint64_t sent_bytes = 0;                  ///< payload, all ranks, the whole run
    std::uint64_t received_bytes = 0;              ///< payload, all ranks, the whole run

    /// Nothing measured if there were none.
    CollectiveStatistics of(Collective collective) const;
};

RunStatistics run_statistics(const std::vector<Timeline>& timelines, const Workload& workload, int world_size,
                             std::uint32_t warmup);

constexpr std::string_view bandwidth_formula =
    "algorithm bandwidth = bytes of the buffers / time from a collective's start to its last byte on the "
    "slowest rank, over all of one kind together (here: all-reduces); bus bandwidth = algorithm bandwidth x "
    "2(N-1)/N for all_reduce, (N-1)/N for reduce_scatter, all_gather and all_to_all, 1 for broadcast and "
    "send, for any algorithm (nccl-tests); what each rank of a ring sends per second";

} // namespace generator
