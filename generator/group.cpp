#include "generator/group.hpp"

#include <algorithm>
#include <numeric>

namespace generator {

std::vector<int> Group::members_with(int rank, int world_size) const {
    std::vector<int> all;
    if (members.empty()) {
        all.resize(static_cast<std::size_t>(world_size));
        std::iota(all.begin(), all.end(), 0);
        return all;
    }
    for (const std::vector<int>& some : members)
        if (std::find(some.begin(), some.end(), rank) != some.end())
            return some;
    return {};
}

std::optional<std::size_t> Group::position_of(int rank) const {
    if (members.empty())
        return static_cast<std::size_t>(rank);
    for (const std::vector<int>& some : members) {
        const auto found = std::find(some.begin(), some.end(), rank);
        if (found != some.end())
            return static_cast<std::size_t>(found - some.begin());
    }
    return std::nullopt;
}

} // namespace generator
