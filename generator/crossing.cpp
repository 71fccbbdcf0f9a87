#include "generator/crossing.hpp"

#include <algorithm>

namespace generator {

std::uint64_t bucket_crossing_bytes(const Workload& workload, const WorkloadBucket& bucket, int rank,
                                    const std::vector<int>& ranks, int world_size,
                                    collectors::Direction direction, bool loopback) {
    std::uint64_t bytes = 0;
    for (const Operation& operation : bucket_plan(workload, bucket, rank, world_size).operations)
        if (operation.is_send() == (direction == collectors::Direction::tx) &&
            (loopback || std::find(ranks.begin(), ranks.end(), operation.peer) == ranks.end()))
            bytes += operation.range.bytes;
    return bytes;
}

std::uint64_t crossing_bytes(const Workload& workload, const std::vector<int>& ranks, int world_size,
                             collectors::Direction direction, std::uint32_t first, std::uint32_t last,
                             bool loopback) {
    const auto per_iteration = [&](const std::vector<WorkloadBucket>& buckets) {
        std::uint64_t bytes = 0;
        for (const int rank : ranks)
            for (const WorkloadBucket& bucket : buckets)
                bytes +=
                    bucket_crossing_bytes(workload, bucket, rank, ranks, world_size, direction, loopback);
        return bytes;
    };
    if (first >= last)
        return 0;
    const std::uint32_t later = last - std::max(first, 1u);
    return (first == 0 ? per_iteration(workload.first_iteration) : 0) +
           later * per_iteration(workload.later_iterations);
}

} // namespace generator
