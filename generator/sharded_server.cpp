#include "generator/plan_forms.hpp"
#include "generator/plan_parts.hpp"

namespace generator {
namespace {

using Kind = Operation::Kind;

/// One of N servers, each of one chunk.
struct Shard {
    int position = 0;
    int size = 1;
    std::uint64_t bytes = 0;
    std::uint64_t element_bytes = 1;

    ByteRange chunk(int server) const {
        return partition(bytes, element_bytes, static_cast<std::uint64_t>(size),
                         static_cast<std::uint64_t>(server));
    }
};

/// Pushes each other chunk to its server; returns the receives of the own one.
IndexList push_shards(RankPlan& plan, const Shard& shard) {
    IndexList sums;
    for (int step = 1; step < shard.size; ++step) {
        const int server = (shard.position + step) % shard.size;
        const int worker = (shard.position + shard.size - step) % shard.size;
        append(plan, Kind::send, server, shard.chunk(server));
        sums.append(append(plan, Kind::receive_add, worker, shard.chunk(shard.position)));
    }
    return sums;
}

/// Sends the own chunk to everybody, behind `sums`, and takes the others in.
void pull_shards(RankPlan& plan, const Shard& shard, const IndexList& sums) {
    for (int step = 1; step < shard.size; ++step) {
        const int worker = (shard.position + step) % shard.size;
        const int server = (shard.position + shard.size - step) % shard.size;
        append(plan, Kind::send, worker, shard.chunk(shard.position), sums);
        append(plan, Kind::receive_copy, server, shard.chunk(server));
    }
}

} // namespace

RankPlan sharded_all_reduce(int position, int size, std::uint64_t bytes, std::uint64_t element_bytes) {
    RankPlan plan;
    const Shard shard{position, size, bytes, element_bytes};
    pull_shards(plan, shard, push_shards(plan, shard));
    return plan;
}

RankPlan sharded_reduce_scatter(int position, int size, std::uint64_t bytes, std::uint64_t element_bytes) {
    RankPlan plan;
    push_shards(plan, Shard{position, size, bytes, element_bytes});
    return plan;
}

RankPlan sharded_all_gather(int position, int size, std::uint64_t bytes, std::uint64_t element_bytes) {
    RankPlan plan;
    pull_shards(plan, {position, size, bytes, element_bytes}, {});
    return plan;
}

} // namespace generator
