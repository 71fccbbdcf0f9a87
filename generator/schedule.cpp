#include "generator/schedule.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>

namespace generator {
namespace {

nanoseconds scaled(nanoseconds time, double factor) {
    return nanoseconds(std::llround(static_cast<double>(time.count()) * factor));
}

} // namespace

IterationSchedule iteration_schedule(const Profile& profile, const Workload& workload, int rank,
                                     std::uint32_t iteration) {
    const std::uint64_t seed = profile.run.seed;
    const double factor = profile.scale.time * jitter_factor(profile.jitter, seed, rank, iteration) *
                          straggler_factor(profile.stragglers, seed, rank, iteration);
    // Input comes before the forward pass: it shifts everything.
    const nanoseconds stall =
        scaled(input_stall(profile.input_stalls, seed, rank, iteration), profile.scale.time);
    IterationSchedule schedule;
    schedule.compute = stall + scaled(workload.compute, factor);
    const std::vector<WorkloadBucket>& buckets = workload.buckets(iteration);
    const std::vector<std::uint32_t> slots = queue_slots(workload, buckets);
    for (std::size_t i = 0; i < buckets.size(); ++i) {
        Bucket bucket{buckets[i], static_cast<std::uint32_t>(i), slots[i],
                      stall + scaled(buckets[i].ready_after, factor),
                      stall + scaled(buckets[i].needed_at, factor)};
        const std::optional<std::size_t> position = workload.groups[bucket.group].position_of(rank);
        if (!position)
            continue;
        if (bucket.collective == Collective::send) {
            if (*position > 1)
                continue;
            if (*position == 0)
                bucket.needed_at = schedule.compute; // nobody waits for what was sent
            else
                bucket.ready_after = bucket.needed_at; // asks for it when it cannot go on without
        }
        schedule.buckets.push_back(bucket);
    }
    return schedule;
}

std::vector<ComputeStep> compute_steps(const IterationSchedule& schedule) {
    std::vector<ComputeStep> steps;
    for (std::size_t i = 0; i < schedule.buckets.size(); ++i) {
        steps.push_back({schedule.buckets[i].ready_after, i, ComputeStep::Kind::launch});
        steps.push_back({schedule.buckets[i].needed_at, i, ComputeStep::Kind::wait});
    }
    std::sort(steps.begin(), steps.end(), [](const ComputeStep& a, const ComputeStep& b) {
        return std::tie(a.position, a.bucket, a.kind) < std::tie(b.position, b.bucket, b.kind);
    });
    return steps;
}

} // namespace generator
