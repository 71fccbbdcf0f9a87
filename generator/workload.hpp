#pragma once

#include "generator/group.hpp"
#include "generator/plan.hpp"
#include "generator/profile.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace generator {

/// What decides a bucket's plan.
struct BucketKind {
    std::uint32_t group = 0; ///< index into the workload's groups
    Collective collective = Collective::all_reduce;
    std::uint64_t bytes = 0;

    auto operator<=>(const BucketKind&) const = default;
};

/// One bucket of the workload, before any iteration is timed. Its times are positions in the rank's own
/// computing: the clock that stands still while the rank has to wait for a bucket. Of a `send`, ready_after
/// is a position of the sender and needed_at one of the receiver.
struct WorkloadBucket : BucketKind {
    std::size_t tensors = 0; ///< how many gradients are fused in it; 0 for buffers and explicit buckets
    nanoseconds ready_after{0};
    nanoseconds needed_at{0}; ///< computing does not go past this before the bucket is complete
};

/// What a profile moves in each iteration.
struct Workload {
    std::vector<WorkloadBucket> first_iteration; ///< in launch order, for each group
    std::vector<WorkloadBucket> later_iterations;
    std::vector<Group> groups{{"all", {}}};
    nanoseconds compute{0};          ///< one iteration without waiting, optimizer included
    std::uint64_t element_bytes = 4; ///< collectives split buckets between elements
    CollectiveSettings collective;
    std::vector<int> hosts; ///< of each rank; empty: each on a host of its own

    /// What the members of the bucket's group with `rank` call. `members`: from `Group::members_with`. The
    /// server is the profile's server rank, or the first member where that rank takes no part.
    CollectiveCall call(Collective what, std::uint64_t bytes, const std::vector<int>& members) const;

    const std::vector<WorkloadBucket>& buckets(std::uint32_t iteration) const {
        return iteration == 0 ? first_iteration : later_iterations;
    }
};

/// The buckets of a profile, by its bucketing and sharding:
///   single       one bucket with everything
///   per_tensor   one bucket per gradient, in gradient-ready order
///   ddp          PyTorch DistributedDataParallel (reducer source): walk the gradients in ready order, close
///   a
///                bucket when its size reaches the cap, first cap 1 MiB, then 25 MiB; the first iteration
///                sends the whole model
///   horovod      every cycle fuses the gradients that became ready since the last one, up to the threshold
///   partitioned  BytePS: each gradient cut into pieces
///   explicit     as given
/// `zero1` reduce-scatters each bucket and all-gathers it after the optimizer; `fsdp` all-gathers each unit
/// of the model before its forward and its backward pass and reduce-scatters it after. Gradients are sent by
/// the last of the accumulation steps. `byte_scale` multiplies all sizes; a scaled bucket keeps at least one
/// element and whole elements.
Workload make_workload(const Profile& profile, double byte_scale);

/// Which of its group's `in_flight` queues each bucket of a list uses: the n-th of the group, n mod
/// in_flight.
std::vector<std::uint32_t> queue_slots(const Workload& workload, const std::vector<WorkloadBucket>& buckets);

/// What `rank` does in a bucket; nothing when it is in none of the group's members.
RankPlan bucket_plan(const Workload& workload, const BucketKind& bucket, int rank, int world_size);

/// Bytes multiplied by `scale`, rounded to whole elements, at least one element unless `bytes` is 0.
std::uint64_t scale_bytes(std::uint64_t bytes, double scale, std::uint64_t element_bytes);

/// scale.bytes x line rate / scale.reference_rate. 1 for the second factor when either rate is not known.
double byte_scale(const ScaleSettings& scale, std::optional<BitRate> line_rate);

} // namespace generator
