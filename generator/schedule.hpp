#pragma once

#include "generator/workload.hpp"

#include <cstdint>
#include <vector>

namespace generator {

/// A bucket of one iteration: when it is ready, and how big it is.
struct Bucket {
    Collective collective = Collective::all_reduce;
    std::uint64_t bytes = 0;
    nanoseconds ready_after{0}; ///< from the start of the iteration

    bool operator==(const Bucket&) const = default;
};

/// One iteration of one rank. Buckets are in launch order. The optimizer starts when backward has ended and
/// the last bucket is complete; the next iteration starts when the optimizer has ended.
struct IterationSchedule {
    std::vector<Bucket> buckets;
    nanoseconds backward_end{0}; ///< from the start of the iteration
    nanoseconds optimizer{0};

    bool operator==(const IterationSchedule&) const = default;
};

/// The schedule of `iteration` on `rank`. Pure: the same profile, rank and iteration give the same schedule
/// on every machine, to the nanosecond (the random numbers use integers and IEEE additions only). The first
/// iteration of DDP with a single bucket sends it after backward.
IterationSchedule iteration_schedule(const Profile& profile, const Workload& workload, int rank,
                                     std::uint32_t iteration);

/// Factor on compute time: 1 + AR(1) drift + white part, never below 0.1; drawn from seed, rank and
/// iteration, so that any iteration can be replayed alone.
double jitter_factor(const Jitter& jitter, std::uint64_t seed, int rank, std::uint32_t iteration);

} // namespace generator
