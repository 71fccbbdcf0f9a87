#include "generator/run_statistics.hpp"

#include "generator/bus_bandwidth.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace generator {
namespace {

double seconds(std::int64_t nanoseconds) {
    return 1e-9 * static_cast<double>(nanoseconds);
}

std::uint32_t iterations_of_all(const std::vector<Timeline>& timelines) {
    std::size_t count = timelines.empty() ? 0 : timelines[0].iterations.size();
    for (const Timeline& timeline : timelines)
        count = std::min(count, timeline.iterations.size());
    return static_cast<std::uint32_t>(count);
}

/// A collective as the ranks that took part lived it.
struct Collected {
    BucketKind kind;
    int members = 0;
    double seconds = 0; ///< on the slowest of them
};

/// By iteration, bucket number and first member of the ranks that took part.
using Collectives = std::map<std::tuple<std::uint32_t, std::uint32_t, int>, Collected>;

std::vector<CollectiveStatistics> by_kind(const Collectives& collectives) {
    struct Sum {
        std::vector<double> seconds;
        double total_seconds = 0;
        double bus_bytes = 0;
        CollectiveStatistics statistics;
    };
    std::map<Collective, Sum> sums;
    for (const auto& [key, collected] : collectives) {
        Sum& sum = sums[collected.kind.collective];
        sum.statistics.collective = collected.kind.collective;
        ++sum.statistics.count;
        sum.statistics.bytes += collected.kind.bytes;
        sum.seconds.push_back(collected.seconds);
        if (collected.members < 2)
            continue;
        sum.total_seconds += collected.seconds;
        sum.bus_bytes += bus_factor(collected.kind.collective, collected.members) *
                         static_cast<double>(collected.kind.bytes);
    }
    std::vector<CollectiveStatistics> result;
    for (auto& [kind, sum] : sums) {
        sum.statistics.seconds = distribution(std::move(sum.seconds));
        if (sum.total_seconds > 0) {
            sum.statistics.algorithm_bytes_per_second =
                static_cast<double>(sum.statistics.bytes) / sum.total_seconds;
            sum.statistics.bus_bytes_per_second = sum.bus_bytes / sum.total_seconds;
        }
        result.push_back(sum.statistics);
    }
    return result;
}

std::vector<double> values(const std::map<std::uint32_t, double>& by_key) {
    std::vector<double> result;
    for (const auto& [key, value] : by_key)
        result.push_back(value);
    return result;
}

void keep_slowest(double& slowest, double value) {
    slowest = std::max(slowest, value);
}

} // namespace

CollectiveStatistics RunStatistics::of(Collective collective) const {
    for (const CollectiveStatistics& each : collectives)
        if (each.collective == collective)
            return each;
    return {.collective = collective};
}

RunStatistics run_statistics(const std::vector<Timeline>& timelines, const Workload& workload, int world_size,
                             std::uint32_t warmup) {
    RunStatistics statistics;
    statistics.finished_iterations = iterations_of_all(timelines);
    statistics.measured_iterations =
        statistics.finished_iterations - std::min(statistics.finished_iterations, warmup);
    const auto measured = [&](std::uint32_t iteration) {
        return iteration >= warmup && iteration < statistics.finished_iterations;
    };
    std::map<std::uint32_t, double> iterations; // of each, the slowest rank
    Collectives collectives;
    std::vector<double> lateness;
    for (const Timeline& timeline : timelines) {
        statistics.sent_bytes += timeline.sent_bytes;
        statistics.received_bytes += timeline.received_bytes;
        std::vector<std::vector<int>> members; // by group
        for (const Group& group : workload.groups)
            members.push_back(group.members_with(timeline.rank, world_size));
        for (const IterationRecord& record : timeline.iterations)
            if (measured(record.iteration))
                keep_slowest(iterations[record.iteration], seconds(record.end_ns - record.start_ns));
        for (const BucketRecord& record : timeline.buckets) {
            if (!measured(record.iteration))
                continue;
            lateness.push_back(seconds(record.late_ns));
            const BucketKind& kind = workload.buckets(record.iteration).at(record.bucket);
            const std::vector<int>& group = members[kind.group];
            Collected& collected =
                collectives[{record.iteration, record.bucket, group.empty() ? -1 : group.front()}];
            collected.kind = kind;
            collected.members = static_cast<int>(group.size());
            keep_slowest(collected.seconds, seconds(record.end_ns - record.start_ns));
        }
    }
    statistics.iteration_seconds = distribution(values(iterations));
    statistics.lateness_seconds = distribution(std::move(lateness));
    statistics.collectives = by_kind(collectives);
    statistics.gates = gates(timelines, workload, warmup, statistics.finished_iterations);
    return statistics;
}

} // namespace generator
