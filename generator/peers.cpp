#include "generator/peers.hpp"

#include <vector>

namespace generator {

std::uint32_t job_lane(const CollectiveSettings& collective, QueueId queue, std::uint32_t lane) {
    const std::uint32_t lanes = collective.channels * collective.sockets_per_channel;
    return (queue.group * collective.in_flight + queue.slot) * lanes + lane;
}

Peers needed_peers(const Workload& workload, int rank, int world_size) {
    Peers peers;
    for (const auto& [kind, slot] : queued_kinds(workload))
        for (const Operation& operation : bucket_plan(workload, kind, rank, world_size).operations)
            (operation.is_send() ? peers.outgoing : peers.incoming)
                .insert({operation.peer, job_lane(workload.collective, {kind.group, slot}, operation.lane)});
    return peers;
}

std::set<QueuedKind> queued_kinds(const Workload& workload) {
    std::set<QueuedKind> kinds;
    for (const auto* buckets : {&workload.first_iteration, &workload.later_iterations}) {
        const std::vector<std::uint32_t> slots = queue_slots(workload, *buckets);
        for (std::size_t i = 0; i < buckets->size(); ++i)
            kinds.insert({(*buckets)[i], slots[i]});
    }
    return kinds;
}

} // namespace generator
