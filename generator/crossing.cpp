#include "generator/crossing.hpp"

#include "generator/plan_book.hpp"

#include <algorithm>

namespace generator {

Crossing bucket_crossing(const Workload& workload, const WorkloadBucket& bucket, int rank,
                         const std::vector<int>& ranks, int world_size, collectors::Direction direction,
                         bool loopback) {
    Crossing sum;
    for (const Operation& operation : bucket_plan(workload, bucket, rank, world_size).operations)
        if (operation.is_send() == (direction == collectors::Direction::tx) &&
            (loopback || std::find(ranks.begin(), ranks.end(), operation.peer) == ranks.end())) {
            const std::uint64_t bytes = operation.range.bytes;
            sum.bytes += bytes;
            sum.messages += 1 + bytes / segment_size(bytes, workload.collective.segment_bytes);
        }
    return sum;
}

Crossing crossing(const Workload& workload, const std::vector<int>& ranks, int world_size,
                  collectors::Direction direction, std::uint32_t first, std::uint32_t last, bool loopback) {
    const auto per_iteration = [&](const std::vector<WorkloadBucket>& buckets) {
        Crossing sum;
        for (const int rank : ranks)
            for (const WorkloadBucket& bucket : buckets) {
                const Crossing each =
                    bucket_crossing(workload, bucket, rank, ranks, world_size, direction, loopback);
                sum.bytes += each.bytes;
                sum.messages += each.messages;
            }
        return sum;
    };
    if (first >= last)
        return {};
    const std::uint32_t later = last - std::max(first, 1u);
    const Crossing of_first = first == 0 ? per_iteration(workload.first_iteration) : Crossing{};
    const Crossing of_later = per_iteration(workload.later_iterations);
    return {of_first.bytes + later * of_later.bytes, of_first.messages + later * of_later.messages};
}

} // namespace generator
