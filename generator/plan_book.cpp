#include "generator/plan_book.hpp"

namespace generator {
namespace {

std::uint64_t sent_bytes(const std::vector<WorkloadBucket>& buckets, const Workload& workload, int rank,
                         int world_size) {
    std::uint64_t bytes = 0;
    for (const WorkloadBucket& bucket : buckets)
        bytes += bucket_plan(workload, bucket, rank, world_size).sent_bytes();
    return bytes;
}

} // namespace

PlanBook::PlanBook(const Profile& profile, const Workload& workload, int rank, int world_size) {
    for (const auto* buckets : {&workload.first_iteration, &workload.later_iterations})
        for (const WorkloadBucket& bucket : *buckets)
            plans_.try_emplace(bucket, bucket_plan(workload, bucket, rank, world_size),
                               profile.collective.segment_bytes);
}

std::uint32_t job_lane(const CollectiveSettings& collective, QueueId queue, std::uint32_t lane) {
    const std::uint32_t lanes = collective.channels * collective.sockets_per_channel;
    return (queue.group * collective.in_flight + queue.slot) * lanes + lane;
}

Peers needed_peers(const Workload& workload, int rank, int world_size) {
    std::set<std::pair<BucketKind, std::uint32_t>> kinds; // with their slots
    for (const auto* buckets : {&workload.first_iteration, &workload.later_iterations}) {
        const std::vector<std::uint32_t> slots = queue_slots(workload, *buckets);
        for (std::size_t i = 0; i < buckets->size(); ++i)
            kinds.insert({(*buckets)[i], slots[i]});
    }
    Peers peers;
    for (const auto& [kind, slot] : kinds)
        for (const Operation& operation : bucket_plan(workload, kind, rank, world_size).operations)
            (operation.is_send() ? peers.outgoing : peers.incoming)
                .insert({operation.peer, job_lane(workload.collective, {kind.group, slot}, operation.lane)});
    return peers;
}

std::uint64_t planned_bytes(const Workload& workload, int rank, int world_size, std::uint32_t iterations) {
    if (iterations == 0)
        return 0;
    return sent_bytes(workload.first_iteration, workload, rank, world_size) +
           (iterations - 1) * sent_bytes(workload.later_iterations, workload, rank, world_size);
}

} // namespace generator
