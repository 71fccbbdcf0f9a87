#pragma once

#include "generator/variation.hpp"
#include "generator/workload.hpp"

#include <cstdint>
#include <vector>

namespace generator {

/// A bucket of one iteration on one rank. Its times are positions in the rank's computing.
struct Bucket : BucketKind {
    std::uint32_t number = 0; ///< in the workload's list, the same on all ranks
    /// Which of the group's `in_flight` queues: a collective starts when the one before in its queue is over.
    std::uint32_t slot = 0;
    nanoseconds ready_after{0}; ///< computing has come this far when the bucket may start
    nanoseconds needed_at{0};   ///< computing waits here until the bucket is complete

    bool operator==(const Bucket&) const = default;
};

/// One iteration of one rank: its own buckets, in launch order for each group, and how long it computes. The
/// iteration ends when `compute` is reached; by then nothing is in flight.
struct IterationSchedule {
    std::vector<Bucket> buckets;
    nanoseconds compute{0};

    bool operator==(const IterationSchedule&) const = default;
};

/// What computing does next: at `position` it launches a bucket, or waits for one.
struct ComputeStep {
    enum class Kind { launch, wait };
    nanoseconds position{0};
    std::size_t bucket = 0; ///< index into the schedule's buckets
    Kind kind = Kind::launch;

    bool operator==(const ComputeStep&) const = default;
};

/// The steps of an iteration, by position. At the same position a launch comes before the wait for its own or
/// a later bucket, and after the wait for an earlier one.
std::vector<ComputeStep> compute_steps(const IterationSchedule& schedule);

/// The schedule of `iteration` on `rank`. Pure: the same profile, rank and iteration give the same schedule
/// on every machine, to the nanosecond (see variation.hpp). A `send` is launched at ready_after by its
/// sender, who needs it by the end of the iteration; its receiver launches it at needed_at and waits for it.
IterationSchedule iteration_schedule(const Profile& profile, const Workload& workload, int rank,
                                     std::uint32_t iteration);

} // namespace generator
