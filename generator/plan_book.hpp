#pragma once

#include "generator/bucket_queues.hpp"
#include "generator/schedule.hpp"
#include "generator/transport.hpp"
#include "generator/wire.hpp"

#include <map>

namespace generator {

/// All plans that one rank executes, built before any traffic flows; buckets of equal kind and size share
/// one.
class PlanBook {
public:
    PlanBook(const Profile& profile, const Workload& workload, int rank, int world_size);

    const WirePlan& find(const BucketKind& bucket) const { return plans_.at(bucket); }

private:
    std::map<BucketKind, WirePlan> plans_;
};

/// Each queue of a job has connections of its own. Number of the connection that carries lane `lane` of the
/// plans of `queue`: ((group x in_flight + slot) x channels + channel) x sockets + socket.
std::uint32_t job_lane(const CollectiveSettings& collective, QueueId queue, std::uint32_t lane);

/// On which connections the plans of a workload make `rank` send and receive: exactly those that are opened.
Peers needed_peers(const Workload& workload, int rank, int world_size);

/// Payload bytes that `rank` sends in `iterations` iterations, by the plans.
std::uint64_t planned_bytes(const Workload& workload, int rank, int world_size, std::uint32_t iterations);

} // namespace generator
