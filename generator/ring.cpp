#include "generator/plan.hpp"

#include <optional>

namespace generator {
namespace {

/// Appends `operation` unless it moves nothing; returns its index.
std::optional<std::uint32_t> append(RankPlan& plan, Operation operation) {
    if (operation.range.bytes == 0)
        return std::nullopt;
    plan.operations.push_back(std::move(operation));
    return static_cast<std::uint32_t>(plan.operations.size() - 1);
}

std::vector<std::uint32_t> follow(std::optional<std::uint32_t> receive) {
    return receive ? std::vector{*receive} : std::vector<std::uint32_t>{};
}

} // namespace

RankPlan ring_all_reduce(int rank, int world_size, std::uint64_t bytes, std::uint64_t element_bytes) {
    RankPlan plan;
    const int right = (rank + 1) % world_size;
    const int left = (rank + world_size - 1) % world_size;
    // In step k a rank sends the chunk that it received in step k-1, first its own. In the first N-1 steps a
    // received chunk is added to the rank's own share; after them chunk rank+1 is complete here, and the same
    // walk once more hands complete chunks around. Chunk numbers go down by one each step.
    std::optional<std::uint32_t> previous_receive;
    for (int step = 0; step < 2 * (world_size - 1); ++step) {
        const auto chunk = [&](int number) {
            const int index = ((number % world_size) + world_size) % world_size;
            return partition(bytes, element_bytes, static_cast<std::uint64_t>(world_size),
                             static_cast<std::uint64_t>(index));
        };
        const bool reducing = step < world_size - 1;
        append(plan, {.kind = Operation::Kind::send,
                      .peer = right,
                      .range = chunk(rank - step),
                      .after = {},
                      .behind = follow(previous_receive)});
        previous_receive =
            append(plan, {.kind = reducing ? Operation::Kind::receive_add : Operation::Kind::receive_copy,
                          .peer = left,
                          .range = chunk(rank - step - 1),
                          .after = {},
                          .behind = {}});
    }
    return plan;
}

RankPlan ring_broadcast(int rank, int world_size, int root, std::uint64_t bytes) {
    RankPlan plan;
    const int position = (rank - root + world_size) % world_size;
    std::optional<std::uint32_t> receive;
    if (position > 0)
        receive = append(plan, {.kind = Operation::Kind::receive_copy,
                                .peer = (rank + world_size - 1) % world_size,
                                .range = {0, bytes},
                                .after = {},
                                .behind = {}});
    if (position < world_size - 1)
        append(plan, {.kind = Operation::Kind::send,
                      .peer = (rank + 1) % world_size,
                      .range = {0, bytes},
                      .after = {},
                      .behind = follow(receive)});
    return plan;
}

} // namespace generator
