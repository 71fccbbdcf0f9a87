#pragma once

#include "generator/workload.hpp"

#include <vector>

/// From a model's gradients to the buckets of one iteration; sizes are not scaled yet.
namespace generator {

/// Where the passes of an iteration lie in a rank's computing.
struct Passes {
    ComputeTimes times; ///< of one step
    std::uint32_t steps = 1;

    nanoseconds forward_start(std::uint32_t step) const { return step * (times.forward + times.backward); }
    nanoseconds backward_start(std::uint32_t step) const { return forward_start(step) + times.forward; }
    nanoseconds backward_end() const { return forward_start(steps); }
};
Passes passes(const Profile& profile);

/// `time` x `fraction`, to the nearest nanosecond.
nanoseconds share(nanoseconds time, double fraction);

/// Of each tensor in registration order: the fraction of the backward pass after which its gradient is ready.
std::vector<double> ready_fractions(const Profile& profile);

/// What is sent in an iteration, and when the optimizer starts: when all gradients are there.
struct IterationBuckets {
    std::vector<WorkloadBucket> buckets;
    nanoseconds optimizer_start{0};
};

/// The gradients by `bucketing` (which is not explicit_list): one all-reduce per bucket, needed by the
/// optimizer.
IterationBuckets gradient_buckets(const Profile& profile, Bucketing bucketing);

/// ZeRO stage 1: each all-reduce becomes a reduce-scatter, and what the optimizer has updated is all-gathered
/// bucket by bucket before the iteration ends.
IterationBuckets with_sharded_optimizer(IterationBuckets iteration, const Profile& profile);

/// Fully sharded: collectives of the model's units.
IterationBuckets unit_buckets(const Profile& profile);

/// The profile's own buckets, copies included.
IterationBuckets explicit_buckets(const Profile& profile);

} // namespace generator
