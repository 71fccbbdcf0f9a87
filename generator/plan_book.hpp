#pragma once

#include "generator/peers.hpp"
#include "generator/schedule.hpp"
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

/// Payload bytes that `rank` sends in `iterations` iterations, by the plans.
std::uint64_t planned_bytes(const Workload& workload, int rank, int world_size, std::uint32_t iterations);

} // namespace generator
