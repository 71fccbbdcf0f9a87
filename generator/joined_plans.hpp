#pragma once

#include "generator/blocks.hpp"
#include "generator/transfer_plan.hpp"
#include "generator/workload.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>

namespace generator {

/// The transfer plans of a workload's buckets: of all ranks, joined when a bucket is met for the first time,
/// or of a block of ranks that stands for all. The workload must outlive them.
class JoinedPlans {
public:
    JoinedPlans(const Workload& workload, int world_size, std::optional<std::uint64_t> segment_bytes)
        : workload_(workload), world_size_(world_size), segment_bytes_(segment_bytes) {}

    /// The reference stays valid.
    const TransferPlan& find(const BucketKind& bucket);

    /// Lets a block of the topology stand for all (see `fold_plan`). Buckets that do not allow it are left
    /// out, if in no iteration they are more than `most_left_out` of the bytes; these are returned. nullopt,
    /// and nothing has changed, if they are more, or if uplinks that the block does not have would limit it.
    std::optional<std::set<BucketKind>> fold(const Topology& topology, const RankBlock& block,
                                             double most_left_out);

    /// Of all ranks in one iteration, the first one aside; counted on one rank.
    std::uint64_t transfers_per_iteration() const;

private:
    const Workload& workload_;
    int world_size_;
    std::optional<std::uint64_t> segment_bytes_;
    std::map<BucketKind, TransferPlan> plans_;
};

} // namespace generator
