#include "generator/needs.hpp"

#include "collectors/slow_lane.hpp"
#include "collectors/units.hpp"
#include "generator/peers.hpp"
#include "generator/saturating.hpp"
#include "generator/tcp_log.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include <fmt/format.h>

namespace generator {
namespace {

// A line of a trace has six numbers: "0,0,0,0,0,0" is the shortest; after hours, with terabytes, 13 + 5 + 5 +
// 13 + 13 + 1 digits. A line of timeline.csv has twelve: of a run of minutes about 110 characters.
constexpr Estimate trace_line{12, 56};
constexpr Estimate timeline_line{40, 120};
constexpr Estimate slow_line{30, 90};  // fifteen numbers, most of them 0 on a good network
constexpr std::uint64_t tcp_line = 75; // sixteen numbers; as long on its way to rank 0
constexpr std::uint64_t record_bytes = sizeof(std::int64_t) * 9; // a bucket in memory
constexpr std::uint64_t record_text = 100;                       // and on its way to rank 0

std::uint64_t bytes_of(const std::vector<WorkloadBucket>& buckets) {
    std::uint64_t bytes = 0;
    for (const WorkloadBucket& bucket : buckets)
        bytes = saturating_sum(bytes, bucket.bytes);
    return bytes;
}

std::uint64_t whole(double number) {
    return number >= 1.8e19 ? beyond_counting : static_cast<std::uint64_t>(std::max(0.0, number));
}

/// Lines of tcp.csv in so many iterations, of all ranks: one per bucket and connection that it is sent on.
/// The first rank may be a server or a leader, the last one stands for the others.
std::uint64_t tcp_records(const Workload& workload, int world_size, double iterations) {
    const auto of_rank = [&](int rank) {
        std::map<BucketKind, std::uint64_t> connections;
        std::uint64_t records = 0;
        for (const WorkloadBucket& bucket : workload.later_iterations) {
            const auto [known, is_new] = connections.try_emplace(bucket, 0);
            if (is_new) {
                std::set<PeerLane> places;
                for (const Operation& operation : bucket_plan(workload, bucket, rank, world_size).operations)
                    if (operation.is_send())
                        places.insert({operation.peer, operation.lane});
                known->second = places.size();
            }
            records += known->second;
        }
        return std::min<std::uint64_t>(saturating_product(whole(iterations), records), most_tcp_records);
    };
    if (world_size < 2)
        return 0;
    return saturating_sum(
        of_rank(0), saturating_product(static_cast<std::uint64_t>(world_size - 1), of_rank(world_size - 1)));
}

/// Of an iteration: it computes, and at least its bytes once go through a NIC that all ranks of a host share.
struct IterationTime {
    double least = 0;
    double likely = 0;
};

IterationTime iteration_time(const Profile& profile, const Workload& workload, const Placement& placement) {
    IterationTime time;
    time.least = collectors::in_seconds(workload.compute) * profile.scale.time;
    time.likely = time.least;
    if (placement.line_rate && placement.world_size > 1)
        time.likely =
            std::max(time.least, static_cast<double>(bytes_of(workload.later_iterations)) *
                                     placement.ranks_per_host / placement.line_rate->bytes_per_second());
    constexpr double shortest = 1e-4; // no iteration of several ranks is over sooner
    time.least = std::max(time.least, shortest);
    time.likely = std::max(time.likely, shortest);
    return time;
}

} // namespace

Needs estimate_needs(const Profile& profile, const Workload& workload, const Placement& placement) {
    const RunSettings& run = profile.run;
    const IterationTime iteration = iteration_time(profile, workload, placement);
    constexpr double endless = std::numeric_limits<double>::infinity();
    const double limit = run.duration ? collectors::in_seconds(*run.duration) : endless;
    const double by_number = run.iterations ? static_cast<double>(*run.iterations) : endless;
    const double iterations = std::min(by_number, limit / iteration.least + 1);
    // The likely number is no larger, for the likely iteration is longer. A slow network may leave one alone.
    const double likely_iterations = std::min(by_number, limit / iteration.likely + 1);
    const double certain_iterations = run.duration ? 1 : by_number;
    const double least_time = run.iterations ? std::min(limit, by_number * iteration.least) : limit;
    const double likely_time = std::min(limit, likely_iterations * iteration.likely);

    Needs needs;
    needs.iterations = whole(iterations);
    const double samples_per_second = 1 / collectors::in_seconds(profile.sampling.interval);
    const auto interfaces = static_cast<std::uint64_t>(placement.interfaces);
    const auto ranks = static_cast<std::uint64_t>(placement.world_size);
    const std::uint64_t buckets = workload.later_iterations.size();
    const auto records = [&](double count) {
        return saturating_product(saturating_product(whole(count), buckets), ranks);
    };
    const double slow_per_second = 1 / collectors::in_seconds(collectors::slow_lane_interval);
    const auto sampled = [&](double seconds, std::uint64_t trace_bytes, std::uint64_t slow_bytes) {
        return saturating_product(
            interfaces, saturating_sum(saturating_product(whole(seconds * samples_per_second), trace_bytes),
                                       saturating_product(whole(seconds * slow_per_second), slow_bytes)));
    };
    needs.disk.least = saturating_sum(sampled(least_time, trace_line.least, slow_line.least),
                                      saturating_product(records(certain_iterations), timeline_line.least));
    const std::uint64_t tcp =
        profile.sampling.tcp_info ? tcp_records(workload, placement.world_size, likely_iterations) : 0;
    needs.disk.likely =
        saturating_sum(sampled(likely_time, trace_line.likely, slow_line.likely),
                       saturating_sum(saturating_product(records(likely_iterations), timeline_line.likely),
                                      saturating_product(tcp, tcp_line)));

    const std::uint64_t held = run.verify
                                   ? saturating_product(std::max(bytes_of(workload.first_iteration),
                                                                 bytes_of(workload.later_iterations)),
                                                        static_cast<std::uint64_t>(placement.ranks_per_host))
                                   : 0;
    needs.memory.least = saturating_sum(held, saturating_product(records(certain_iterations), record_bytes));
    needs.memory.likely = saturating_sum(
        saturating_sum(held, saturating_product(tcp, sizeof(TcpRecord) + 2 * tcp_line)),
        saturating_product(records(likely_iterations), record_bytes + record_text + timeline_line.likely));
    return needs;
}

std::vector<std::string> space_warnings(const Needs& needs, const FreeSpace& free) {
    std::vector<std::string> warnings;
    if (free.memory_bytes && needs.memory.likely > *free.memory_bytes)
        warnings.push_back(
            fmt::format("MEMORY: the ranks of a host need about {} for what --verify holds, for "
                        "timelines and tcp.csv, {} are free; scale bytes, or run fewer iterations",
                        size_text(needs.memory.likely), size_text(*free.memory_bytes)));
    if (free.disk_bytes && needs.disk.likely > *free.disk_bytes)
        warnings.push_back(
            fmt::format("DISK: traces, timeline and tcp.csv need about {}, {} are free where the run "
                        "directory will be; choose another --out, a longer --interval or fewer "
                        "iterations",
                        size_text(needs.disk.likely), size_text(*free.disk_bytes)));
    return warnings;
}

std::string space_error(const Needs& needs, const FreeSpace& free) {
    if (free.memory_bytes && needs.memory.least > *free.memory_bytes)
        return fmt::format("the ranks of a host need {} of memory at least, for what --verify holds and for "
                           "timelines, but {} are free; scale bytes, or run fewer iterations",
                           size_text(needs.memory.least), size_text(*free.memory_bytes));
    if (free.disk_bytes && needs.disk.least > *free.disk_bytes)
        return fmt::format(
            "traces and timeline need {} at least, but {} are free where the run directory will "
            "be; choose another --out, a longer --interval or fewer iterations",
            size_text(needs.disk.least), size_text(*free.disk_bytes));
    return "";
}

} // namespace generator
