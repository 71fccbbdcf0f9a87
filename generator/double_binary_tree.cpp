#include "generator/plan_forms.hpp"
#include "generator/plan_parts.hpp"

#include <array>
#include <optional>
#include <vector>

namespace generator {
namespace {

using Kind = Operation::Kind;

struct Neighbours {
    std::optional<int> parent;
    std::vector<int> children;
};

/// The search tree over the places 0 .. size - 1 whose inner nodes are the odd places: leaves lie between
/// them. Its height is floor(log2 size).
Neighbours search_tree(int place, int size) {
    Neighbours found;
    int low = 0; // the inner nodes `low` .. `high` - 1; number i is place 2i + 1
    int high = size / 2;
    while (low < high) {
        const int middle = (low + high) / 2;
        const int inner = 2 * middle + 1;
        if (inner == place)
            break;
        found.parent = inner;
        if (place < inner)
            high = middle;
        else
            low = middle + 1;
    }
    if (place % 2 == 0)
        return found;
    const int middle = (place - 1) / 2;
    const int left = low < middle ? 2 * ((low + middle) / 2) + 1 : place - 1;
    const int right = middle + 1 < high ? 2 * ((middle + 1 + high) / 2) + 1 : place + 1;
    found.children.push_back(left);
    if (right < size)
        found.children.push_back(right);
    return found;
}

/// In the second tree everybody has moved on by one place: who was an inner node is a leaf now.
Neighbours tree(int number, int position, int size) {
    Neighbours found = search_tree((position + number) % size, size);
    const auto position_at = [&](int place) { return (place + size - number) % size; };
    if (found.parent)
        found.parent = position_at(*found.parent);
    for (int& child : found.children)
        child = position_at(child);
    return found;
}

} // namespace

RankPlan tree_all_reduce(int position, int size, std::uint64_t bytes, std::uint64_t element_bytes) {
    RankPlan plan;
    const std::array trees{tree(0, position, size), tree(1, position, size)};
    std::array<IndexList, 2> sums;
    // All the way up first: between two ranks that are neighbours in both trees, what comes down in one must
    // not hold up what goes up in the other.
    for (std::size_t number = 0; number < 2; ++number) {
        const ByteRange half = partition(bytes, element_bytes, 2, number);
        for (const int child : trees[number].children)
            sums[number].append(append(plan, Kind::receive_add, child, half));
        if (trees[number].parent)
            append(plan, Kind::send, *trees[number].parent, half, sums[number]);
    }
    for (std::size_t number = 0; number < 2; ++number) {
        const ByteRange half = partition(bytes, element_bytes, 2, number);
        if (trees[number].parent)
            sums[number] = append(plan, Kind::receive_copy, *trees[number].parent, half);
        for (const int child : trees[number].children)
            append(plan, Kind::send, child, half, sums[number]);
    }
    return plan;
}

RankPlan tree_broadcast(int position, int size, std::uint64_t bytes, std::uint64_t element_bytes) {
    RankPlan plan;
    for (int number = 0; number < 2; ++number) {
        const ByteRange half = partition(bytes, element_bytes, 2, static_cast<std::uint64_t>(number));
        if (position == 0) { // it stands above both trees, which are made of the others
            for (int other = 1; other < size; ++other)
                if (!tree(number, other - 1, size - 1).parent)
                    append(plan, Kind::send, other, half);
            continue;
        }
        const Neighbours neighbours = tree(number, position - 1, size - 1);
        const IndexList received =
            append(plan, Kind::receive_copy, neighbours.parent ? *neighbours.parent + 1 : 0, half);
        for (const int child : neighbours.children)
            append(plan, Kind::send, child + 1, half, received);
    }
    return plan;
}

} // namespace generator
