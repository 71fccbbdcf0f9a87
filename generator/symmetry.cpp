#include "generator/symmetry.hpp"

#include <algorithm>
#include <bit>
#include <set>
#include <utility>
#include <vector>

namespace generator {
namespace {

constexpr int all_compared = 64; ///< up to this size of a group
constexpr int few_compared = 24;

/// The plan of a position with distances instead of peers, and without places in the buffer.
RankPlan seen_from(int position, const CollectiveCall& call, Distance kind, int size) {
    RankPlan plan = rank_plan(call, position, size);
    for (Operation& operation : plan.operations) {
        operation.peer = distance(kind, position, operation.peer, size);
        operation.range.offset = 0;
    }
    return plan;
}

/// Numbers of blocks, without 0.
std::set<int> compared_blocks(int blocks, int block_size) {
    std::set<int> compared;
    if (blocks * block_size <= all_compared) {
        for (int block = 1; block < blocks; ++block)
            compared.insert(block);
        return compared;
    }
    // The first and last ones, and some that share no factor with their number.
    const int third = std::max(1, few_compared / 3 / block_size);
    for (int i = 1; i <= third; ++i)
        for (const int block : {i, blocks - i, static_cast<int>(std::int64_t{blocks} * i / (third + 1)) - 1})
            if (block > 0 && block < blocks)
                compared.insert(block);
    return compared;
}

/// Size of the groups, if every rank is in one of them and they have one size.
std::optional<int> common_size(const Group& group, int world_size) {
    if (group.members.empty())
        return world_size;
    std::set<int> ranks;
    for (const std::vector<int>& members : group.members) {
        if (members.size() != group.members.front().size())
            return std::nullopt;
        ranks.insert(members.begin(), members.end());
    }
    if (ranks.size() != static_cast<std::size_t>(world_size))
        return std::nullopt;
    return static_cast<int>(group.members.front().size());
}

/// The plans of the first block, if the others do the same: with distances instead of peers.
std::optional<std::vector<RankPlan>> plans_of_block(const CollectiveCall& call, Distance kind, int size,
                                                    int block_size) {
    const std::set<int> compared = compared_blocks(size / block_size, block_size);
    std::vector<RankPlan> plans;
    for (int place = 0; place < block_size; ++place) {
        plans.push_back(seen_from(place, call, kind, size));
        if (!std::all_of(compared.begin(), compared.end(), [&](int block) {
                return seen_from(block * block_size + place, call, kind, size) == plans.back();
            }))
            return std::nullopt;
    }
    return plans;
}

bool is_power_of_two(int number) {
    return std::has_single_bit(static_cast<unsigned>(number));
}

/// Distances become peers in the block, and lanes are numbered by distance: to one peer there are connections
/// of several distances. Joined, each connection knows again whether it leaves the block.
FoldedPlan fold(std::vector<RankPlan> plans, Distance kind, int size, std::uint32_t lanes,
                std::optional<std::uint64_t> segment_bytes) {
    FoldedPlan folded;
    const int block_size = static_cast<int>(plans.size());
    for (int place = 0; place < block_size; ++place)
        for (Operation& operation : plans[static_cast<std::size_t>(place)].operations) {
            const int sent_over = operation.is_send() ? operation.peer : opposite(kind, operation.peer, size);
            if (operation.is_send())
                folded.hops.insert({kind, place, sent_over});
            operation.lane += static_cast<std::uint32_t>(sent_over) * lanes;
            operation.peer = at_distance(kind, place, operation.peer, size) % block_size;
        }
    folded.plan = join_plans(plans, segment_bytes);
    for (TransferConnection& connection : folded.plan.connections)
        connection.between_blocks =
            at_distance(kind, connection.from, static_cast<int>(connection.lane / lanes), size) >= block_size;
    return folded;
}

} // namespace

std::optional<FoldedPlan> fold_plan(const Workload& workload, const BucketKind& bucket, int world_size,
                                    int block_size, std::optional<std::uint64_t> segment_bytes) {
    const Group& group = workload.groups.at(bucket.group);
    const std::optional<int> size = common_size(group, world_size);
    if (!size || (block_size > 1 && (!group.members.empty() || *size % block_size != 0)))
        return std::nullopt;
    CollectiveCall call = workload.call(bucket.collective, bucket.bytes, group.members_with(0, world_size));
    const std::uint64_t chunks = static_cast<std::uint64_t>(*size) * call.channels;
    if (call.bytes > 0 && call.bytes / call.element_bytes < chunks)
        return std::nullopt;
    call.bytes = (call.bytes + chunks - 1) / chunks * chunks;
    call.element_bytes = 1;
    for (const Distance kind : {Distance::rotation, Distance::exclusive_or}) {
        if (kind == Distance::exclusive_or && !(is_power_of_two(*size) && is_power_of_two(block_size)))
            continue;
        if (auto plans = plans_of_block(call, kind, *size, block_size))
            return fold(std::move(*plans), kind, *size, call.channels * call.sockets, segment_bytes);
    }
    return std::nullopt;
}

} // namespace generator
