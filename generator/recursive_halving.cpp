#include "generator/plan_forms.hpp"
#include "generator/plan_parts.hpp"

#include <optional>
#include <vector>

namespace generator {
namespace {

using Kind = Operation::Kind;

/// Positions `first` to `last` - 1, and the chunks of the same numbers.
struct Part {
    int first = 0;
    int last = 0;

    int size() const { return last - first; }
};

/// One level of the recursion for one rank: its half, the other half, and its partners there. When the halves
/// are unequal, one rank of the larger half has no partner of its own: it sends its share of the other half
/// to that half's last rank, which then has two to receive from.
struct Level {
    Part own;
    Part other;
    int to = 0;
    std::vector<int> from;
};

/// Halves the group until the rank is alone: ceil(log2 N) levels.
std::vector<Level> levels(int position, int size) {
    std::vector<Level> all;
    for (Part part{0, size}; part.size() > 1; part = all.back().own) {
        const int middle = part.first + (part.size() + 1) / 2;
        const Part lower{part.first, middle};
        const Part upper{middle, part.last};
        const bool has_extra = lower.size() > upper.size();
        Level level;
        if (position < middle) {
            const int index = position - lower.first;
            const bool is_extra = index == upper.size();
            level = {lower, upper, is_extra ? upper.last - 1 : upper.first + index, {}};
            if (!is_extra)
                level.from = {level.to};
        } else {
            level = {upper, lower, lower.first + (position - upper.first), {}};
            level.from = {level.to};
            if (has_extra && position == upper.last - 1)
                level.from.push_back(lower.last - 1);
        }
        all.push_back(level);
    }
    return all;
}

} // namespace

RankPlan halving_reduce_scatter(int position, int size, std::uint64_t bytes, std::uint64_t element_bytes) {
    RankPlan plan;
    const auto range = [&](Part part) {
        return chunk_range(bytes, element_bytes, size, part.first, part.last);
    };
    IndexList received;
    for (const Level& level : levels(position, size)) {
        append(plan, Kind::send, level.to, range(level.other), {}, received);
        for (const int from : level.from)
            received.append(append(plan, Kind::receive_add, from, range(level.own)));
    }
    return plan;
}

RankPlan doubling_all_gather(int position, int size, std::uint64_t bytes, std::uint64_t element_bytes) {
    RankPlan plan;
    const auto range = [&](Part part) {
        return chunk_range(bytes, element_bytes, size, part.first, part.last);
    };
    const std::vector<Level> all = levels(position, size);
    IndexList received;
    for (auto level = all.rbegin(); level != all.rend(); ++level) {
        for (const int to : level->from)
            append(plan, Kind::send, to, range(level->own), {}, received);
        received.append(append(plan, Kind::receive_copy, level->to, range(level->other)));
    }
    return plan;
}

} // namespace generator
