#include "generator/symmetry.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

namespace generator {
namespace {

constexpr int all_compared = 64; ///< up to this size of a group
constexpr int few_compared = 24;

/// How positions differ: the distance from one to another, and the distance back.
enum class Distance { rotation, exclusive_or };

int distance(Distance kind, int from, int to, int size) {
    return kind == Distance::rotation ? (to - from + size) % size : from ^ to;
}

int opposite(Distance kind, int distance, int size) {
    return kind == Distance::rotation ? (size - distance) % size : distance;
}

/// The plan of a position with distances instead of peers, and without places in the buffer.
RankPlan seen_from(int position, const CollectiveCall& call, Distance kind, int size) {
    RankPlan plan = rank_plan(call, position, size);
    for (Operation& operation : plan.operations) {
        operation.peer = distance(kind, position, operation.peer, size);
        operation.range.offset = 0;
    }
    return plan;
}

std::vector<int> compared_positions(int size) {
    std::vector<int> positions;
    if (size <= all_compared) {
        for (int position = 1; position < size; ++position)
            positions.push_back(position);
        return positions;
    }
    // The first and last ones, and some that share no factor with the size.
    for (int i = 1; i <= few_compared / 3; ++i) {
        positions.push_back(i);
        positions.push_back(size - i);
        positions.push_back(static_cast<int>(std::int64_t{size} * i * 3 / few_compared) - 1);
    }
    return positions;
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

/// Every transfer becomes one to itself, on a connection for each distance and lane.
RankPlan to_itself(RankPlan plan, Distance kind, int size) {
    std::map<std::pair<int, std::uint32_t>, std::uint32_t> connections;
    for (Operation& operation : plan.operations) {
        const int away = operation.is_send() ? operation.peer : opposite(kind, operation.peer, size);
        operation.lane =
            connections.try_emplace({away, operation.lane}, static_cast<std::uint32_t>(connections.size()))
                .first->second;
        operation.peer = 0;
    }
    return plan;
}

} // namespace

std::optional<TransferPlan> representative_plan(const Workload& workload, const BucketKind& bucket,
                                                int world_size, std::optional<std::uint64_t> segment_bytes) {
    const std::optional<int> size = common_size(workload.groups.at(bucket.group), world_size);
    if (!size)
        return std::nullopt;
    CollectiveCall call = workload.call(bucket.collective, bucket.bytes,
                                        workload.groups[bucket.group].members_with(0, world_size));
    const std::uint64_t chunks = static_cast<std::uint64_t>(*size) * call.channels;
    if (call.bytes > 0 && call.bytes / call.element_bytes < chunks)
        return std::nullopt;
    call.bytes = (call.bytes + chunks - 1) / chunks * chunks;
    call.element_bytes = 1;
    for (const Distance kind : {Distance::rotation, Distance::exclusive_or}) {
        const RankPlan plan = seen_from(0, call, kind, *size);
        const std::vector<int> compared = compared_positions(*size);
        if (std::all_of(compared.begin(), compared.end(),
                        [&](int position) { return seen_from(position, call, kind, *size) == plan; }))
            return join_plans(std::vector{to_itself(plan, kind, *size)}, segment_bytes);
    }
    return std::nullopt;
}

} // namespace generator
