#include "generator/run_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

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

std::vector<double> values(const std::map<std::pair<std::uint32_t, std::uint32_t>, double>& by_key) {
    std::vector<double> result;
    for (const auto& [key, value] : by_key)
        result.push_back(value);
    return result;
}

} // namespace

std::optional<Distribution> distribution(std::vector<double> values) {
    if (values.empty())
        return std::nullopt;
    std::sort(values.begin(), values.end());
    const auto quantile = [&](double share) {
        const double rank = std::ceil(share * static_cast<double>(values.size()));
        return values[static_cast<std::size_t>(std::max(rank, 1.0)) - 1];
    };
    return Distribution{.mean = std::accumulate(values.begin(), values.end(), 0.0) /
                                static_cast<double>(values.size()),
                        .p50 = quantile(0.50),
                        .p95 = quantile(0.95),
                        .p99 = quantile(0.99),
                        .max = values.back()};
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
    // Of each iteration, and of each bucket (iteration, number), the slowest rank.
    std::map<std::pair<std::uint32_t, std::uint32_t>, double> iterations;
    std::map<std::pair<std::uint32_t, std::uint32_t>, double> reductions;
    std::vector<double> lateness;
    const auto keep_slowest = [](double& slowest, double value) { slowest = std::max(slowest, value); };
    for (const Timeline& timeline : timelines) {
        statistics.sent_bytes += timeline.sent_bytes;
        statistics.received_bytes += timeline.received_bytes;
        for (const IterationRecord& record : timeline.iterations)
            if (measured(record.iteration))
                keep_slowest(iterations[{record.iteration, 0}], seconds(record.end_ns - record.start_ns));
        for (const BucketRecord& record : timeline.buckets) {
            if (!measured(record.iteration))
                continue;
            lateness.push_back(seconds(record.late_ns));
            if (workload.buckets(record.iteration)[record.bucket].collective == Collective::all_reduce)
                keep_slowest(reductions[{record.iteration, record.bucket}],
                             seconds(record.end_ns - record.start_ns));
        }
    }
    statistics.iteration_seconds = distribution(values(iterations));
    statistics.lateness_seconds = distribution(std::move(lateness));
    double reduced_bytes = 0;
    double reduced_seconds = 0;
    for (const auto& [key, duration] : reductions) {
        reduced_bytes += static_cast<double>(workload.buckets(key.first)[key.second].bytes);
        reduced_seconds += duration;
    }
    statistics.bucket_seconds = distribution(values(reductions));
    if (world_size > 1 && reduced_seconds > 0) {
        const double ranks = world_size;
        statistics.algorithm_bytes_per_second = reduced_bytes / reduced_seconds;
        statistics.bus_bytes_per_second = 2 * (ranks - 1) / ranks * *statistics.algorithm_bytes_per_second;
    }
    return statistics;
}

} // namespace generator
