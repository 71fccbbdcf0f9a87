#pragma once

#include "generator/bucket_queues.hpp"
#include "generator/workload.hpp"

#include <cstdint>
#include <set>

namespace generator {

/// One of the job's parallel connections to a peer.
struct PeerLane {
    int peer = 0;
    std::uint32_t lane = 0; ///< of the whole job, see `job_lane`

    auto operator<=>(const PeerLane&) const = default;
};

/// The connections on which a rank sends and receives; from its plans, so that only needed ones are opened.
struct Peers {
    std::set<PeerLane> outgoing;
    std::set<PeerLane> incoming;
};

/// Each queue of a job has connections of its own. Number of the connection that carries lane `lane` of the
/// plans of `queue`: ((group x in_flight + slot) x channels + channel) x sockets + socket.
std::uint32_t job_lane(const CollectiveSettings& collective, QueueId queue, std::uint32_t lane);

/// On which connections the plans of a workload make `rank` send and receive: exactly those that are opened.
Peers needed_peers(const Workload& workload, int rank, int world_size);

/// A kind of bucket in a queue of its group; each has connections.
struct QueuedKind {
    BucketKind kind;
    std::uint32_t slot = 0;

    auto operator<=>(const QueuedKind&) const = default;
};

/// All that occur in the workload.
std::set<QueuedKind> queued_kinds(const Workload& workload);

} // namespace generator
