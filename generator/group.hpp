#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace generator {

/// The ranks that take part in a collective: a communicator, or several of one kind (the tensor-parallel
/// groups of a job, say), of which each rank is in one at most. Each has connections and a queue of its own,
/// as a communicator of NCCL has. A `send` goes from the first member to the second.
struct Group {
    std::string name;
    std::vector<std::vector<int>> members; ///< in ring order; empty: all ranks together

    /// The members among which `rank` is, of `world_size` ranks; empty when it takes no part.
    std::vector<int> members_with(int rank, int world_size) const;

    /// Position of `rank` among its members; nullopt when it takes no part.
    std::optional<std::size_t> position_of(int rank) const;

    bool takes_part(int rank) const { return position_of(rank).has_value(); }

    bool operator==(const Group&) const = default;
};

} // namespace generator
