#include "generator/plan_book.hpp"

namespace generator {
namespace {

RankPlan plan_of(const WorkloadBucket& bucket, const Workload& workload, int rank, int world_size) {
    return rank_plan(workload.call(bucket.collective, bucket.bytes), rank, world_size);
}

std::uint64_t sent_bytes(const std::vector<WorkloadBucket>& buckets, const Workload& workload, int rank,
                         int world_size) {
    std::uint64_t bytes = 0;
    for (const WorkloadBucket& bucket : buckets)
        bytes += plan_of(bucket, workload, rank, world_size).sent_bytes();
    return bytes;
}

} // namespace

PlanBook::PlanBook(const Profile& profile, const Workload& workload, int rank, int world_size) {
    for (const auto* buckets : {&workload.first_iteration, &workload.later_iterations})
        for (const WorkloadBucket& bucket : *buckets)
            plans_.try_emplace({bucket.collective, bucket.bytes}, plan_of(bucket, workload, rank, world_size),
                               profile.collective.segment_bytes);
}

Peers needed_peers(const Workload& workload, int rank, int world_size) {
    Peers peers;
    for (const auto* buckets : {&workload.first_iteration, &workload.later_iterations})
        for (const WorkloadBucket& bucket : *buckets)
            for (const Operation& operation : plan_of(bucket, workload, rank, world_size).operations)
                (operation.is_send() ? peers.outgoing : peers.incoming).insert(operation.peer);
    return peers;
}

std::uint64_t planned_bytes(const Workload& workload, int rank, int world_size, std::uint32_t iterations) {
    if (iterations == 0)
        return 0;
    return sent_bytes(workload.first_iteration, workload, rank, world_size) +
           (iterations - 1) * sent_bytes(workload.later_iterations, workload, rank, world_size);
}

} // namespace generator
