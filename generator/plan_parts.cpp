#include "generator/plan_parts.hpp"

#include <utility>

namespace generator {

IndexList append(RankPlan& plan, Operation::Kind kind, int peer, ByteRange range, IndexList behind,
                 IndexList after) {
    if (range.bytes == 0)
        return {};
    plan.operations.push_back(
        {.kind = kind, .peer = peer, .range = range, .after = std::move(after), .behind = std::move(behind)});
    return {static_cast<std::uint32_t>(plan.operations.size() - 1)};
}

void append_part(RankPlan& plan, RankPlan part, std::uint64_t offset, std::uint32_t lane) {
    const auto first = static_cast<std::uint32_t>(plan.operations.size());
    const auto shifted = [first](const IndexList& indices) {
        IndexList moved;
        for (const std::uint32_t index : indices)
            moved.push_back(index + first);
        return moved;
    };
    plan.operations.reserve(first + part.operations.size());
    for (Operation& operation : part.operations) {
        if (!operation.is_signal())
            operation.range.offset += offset;
        operation.lane = lane;
        operation.behind = shifted(operation.behind);
        operation.after = shifted(operation.after);
        plan.operations.push_back(std::move(operation));
    }
}

IndexList receives(const RankPlan& plan, std::size_t first) {
    IndexList all;
    for (auto i = static_cast<std::uint32_t>(first); i < plan.operations.size(); ++i)
        if (!plan.operations[i].is_send())
            all.push_back(i);
    return all;
}

ByteRange chunk_range(std::uint64_t bytes, std::uint64_t element_bytes, int chunks, int first, int last) {
    const auto begin = [&](int chunk) {
        return chunk == chunks ? bytes
                               : partition(bytes, element_bytes, static_cast<std::uint64_t>(chunks),
                                           static_cast<std::uint64_t>(chunk))
                                     .offset;
    };
    return {begin(first), begin(last) - begin(first)};
}

} // namespace generator
