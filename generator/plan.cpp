#include "generator/plan.hpp"

#include "generator/plan_parts.hpp"
#include "generator/saturating.hpp"

#include <algorithm>

namespace generator {
namespace {

constexpr std::uint64_t least_segments = 4;
constexpr std::uint64_t least_segment_bytes = 16 * 1024;
constexpr std::uint64_t segment_alignment = 64; // a multiple of every element size

std::uint64_t sum(const std::vector<Operation>& operations, bool sends) {
    std::uint64_t total = 0;
    for (const Operation& operation : operations)
        if (operation.is_send() == sends)
            total = saturating_sum(total, operation.range.bytes);
    return total;
}

} // namespace

std::uint64_t RankPlan::sent_bytes() const {
    return sum(operations, true);
}

std::uint64_t RankPlan::received_bytes() const {
    return sum(operations, false);
}

std::string_view collective_name(Collective collective) {
    switch (collective) {
    case Collective::all_reduce:
        return "all_reduce";
    case Collective::reduce_scatter:
        return "reduce_scatter";
    case Collective::all_gather:
        return "all_gather";
    case Collective::broadcast:
        return "broadcast";
    case Collective::all_to_all:
        return "all_to_all";
    case Collective::send:
        return "send";
    }
    return "?";
}

ByteRange partition(std::uint64_t bytes, std::uint64_t element_bytes, std::uint64_t parts,
                    std::uint64_t index) {
    return Partition(bytes, element_bytes, parts)[index];
}

RankPlan for_members(RankPlan plan, const std::vector<int>& members) {
    for (Operation& operation : plan.operations)
        operation.peer = members.at(static_cast<std::size_t>(operation.peer));
    return plan;
}

std::uint64_t segment_size(std::uint64_t range_bytes, std::uint64_t segment_bytes) {
    const std::uint64_t wanted =
        std::min(segment_bytes, std::max(range_bytes / least_segments, least_segment_bytes));
    return std::max(wanted / segment_alignment, std::uint64_t{1}) * segment_alignment;
}

} // namespace generator
