#include "generator/schedule.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace generator {
namespace {

/// splitmix64 (Steele, Lea, Flood 2014): a good mix of any 64-bit value.
std::uint64_t mix(std::uint64_t value) {
    value += 0x9e3779b97f4a7c15u;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
    return value ^ (value >> 31);
}

/// A random number of mean 0 and standard deviation 1, nearly normal: the sum of twelve uniform numbers less
/// six. Additions alone, so that every machine gets the same bits; std::normal_distribution differs between
/// libraries.
double nearly_normal(std::uint64_t seed, std::uint64_t stream, std::uint64_t rank, std::int64_t index) {
    std::uint64_t state = mix(mix(mix(seed ^ mix(stream)) ^ rank) ^ static_cast<std::uint64_t>(index));
    double sum = -6;
    for (int i = 0; i < 12; ++i) {
        state = mix(state);
        sum += static_cast<double>(state >> 11) * 0x1p-53;
    }
    return sum;
}

nanoseconds scaled(nanoseconds time, double factor) {
    return nanoseconds(std::llround(static_cast<double>(time.count()) * factor));
}

} // namespace

double jitter_factor(const Jitter& jitter, std::uint64_t seed, int rank, std::uint32_t iteration) {
    enum : std::uint64_t { drift_stream = 1, white_stream = 2 };
    constexpr std::int64_t memory = 512; // terms of the moving-average form; 0.95^512 = 4e-12
    const auto stream_rank = static_cast<std::uint64_t>(rank);
    double drift = 0;
    if (jitter.drift_sd > 0) {
        double weight = jitter.drift_sd * std::sqrt(1 - jitter.drift_rho * jitter.drift_rho);
        for (std::int64_t back = 0; back < memory; ++back, weight *= jitter.drift_rho)
            drift += weight * nearly_normal(seed, drift_stream, stream_rank, iteration - back);
    }
    double white = 0;
    if (jitter.white_sd > 0)
        white = jitter.white_sd * nearly_normal(seed, white_stream, stream_rank, iteration);
    return std::max(0.1, 1 + drift + white);
}

IterationSchedule iteration_schedule(const Profile& profile, const Workload& workload, int rank,
                                     std::uint32_t iteration) {
    const double factor =
        profile.scale.time * jitter_factor(profile.jitter, profile.run.seed, rank, iteration);
    IterationSchedule schedule;
    schedule.compute = scaled(workload.compute, factor);
    const std::vector<WorkloadBucket>& buckets = workload.buckets(iteration);
    const std::vector<std::uint32_t> slots = queue_slots(workload, buckets);
    for (std::uint32_t number = 0; number < buckets.size(); ++number) {
        const WorkloadBucket& bucket = buckets[number];
        if (workload.groups[bucket.group].takes_part(rank))
            schedule.buckets.push_back({bucket, number, slots[number], scaled(bucket.ready_after, factor),
                                        scaled(bucket.needed_at, factor)});
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
