#include "generator/joined_plans.hpp"

#include "generator/symmetry.hpp"

#include <vector>

namespace generator {

const TransferPlan& JoinedPlans::find(const BucketKind& bucket) {
    const auto [known, added] = plans_.try_emplace(bucket);
    if (added) {
        std::vector<RankPlan> ranks;
        std::size_t participants = 0;
        for (int rank = 0; rank < world_size_; ++rank) {
            ranks.push_back(bucket_plan(workload_, bucket, rank, world_size_));
            participants += workload_.groups.at(bucket.group).takes_part(rank) ? 1u : 0u;
        }
        known->second = join_plans(ranks, segment_bytes_);
        known->second.participants = participants;
    }
    return known->second;
}

std::optional<std::set<BucketKind>> JoinedPlans::fold(const Topology& topology, const RankBlock& block,
                                                      double most_left_out) {
    const bool lacks_uplinks = !block.has_uplinks && are_uplinks_scarce(topology);
    const auto folded_plan = [&](const BucketKind& bucket) -> std::optional<FoldedPlan> {
        // Hops of groups are between their positions: which uplinks they take is not known.
        if (lacks_uplinks && !workload_.groups.at(bucket.group).members.empty())
            return std::nullopt;
        return fold_plan(workload_, bucket, world_size_, block.size, segment_bytes_);
    };
    std::map<BucketKind, TransferPlan> plans;
    std::set<Hop> hops;
    std::set<BucketKind> left_out;
    for (const auto* buckets : {&workload_.first_iteration, &workload_.later_iterations}) {
        double bytes = 0;
        double left_out_bytes = 0;
        for (const WorkloadBucket& bucket : *buckets) {
            if (!plans.contains(bucket) && !left_out.contains(bucket)) {
                if (auto folded = folded_plan(bucket)) {
                    plans.emplace(bucket, std::move(folded->plan));
                    hops.merge(folded->hops);
                } else if (most_left_out > 0) {
                    left_out.insert(bucket);
                } else {
                    return std::nullopt;
                }
            }
            bytes += static_cast<double>(bucket.bytes);
            left_out_bytes += left_out.contains(bucket) ? static_cast<double>(bucket.bytes) : 0;
        }
        if (left_out_bytes > most_left_out * bytes)
            return std::nullopt;
    }
    if (lacks_uplinks && !uplinks_suffice(topology, block.size, hops))
        return std::nullopt;
    plans_ = std::move(plans);
    return left_out;
}

std::uint64_t JoinedPlans::transfers_per_iteration() const {
    std::uint64_t operations = 0; // a send and a receive make one transfer
    for (const WorkloadBucket& bucket : workload_.later_iterations)
        operations += bucket_plan(workload_, bucket, world_size_ / 2, world_size_).operations.size();
    return operations / 2 * static_cast<std::uint64_t>(world_size_);
}

} // namespace generator
