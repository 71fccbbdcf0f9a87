#pragma once

#include "generator/plan.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

/// What plans are put together from.
namespace generator {

/// Appends a transfer and returns its index; one that would move nothing is left out, and the list is empty.
IndexList append(RankPlan& plan, Operation::Kind kind, int peer, ByteRange range, IndexList behind = {},
                 IndexList after = {});

/// Appends `part`, a plan for the piece of the buffer that begins at `offset`, on lane `lane`.
void append_part(RankPlan& plan, RankPlan part, std::uint64_t offset, std::uint32_t lane);

/// The receives of a plan from operation number `first` on.
IndexList receives(const RankPlan& plan, std::size_t first = 0);

/// `partition` for all indices: divides once, for plans with millions of chunks.
class Partition {
public:
    Partition(std::uint64_t bytes, std::uint64_t element_bytes, std::uint64_t parts)
        : bytes_(bytes), element_bytes_(element_bytes), parts_(parts),
          elements_(bytes / element_bytes / parts), longer_parts_(bytes / element_bytes % parts) {}

    ByteRange operator[](std::uint64_t index) const {
        const std::uint64_t begin = offset(index);
        return {begin, (index + 1 == parts_ ? bytes_ : offset(index + 1)) - begin};
    }

private:
    std::uint64_t offset(std::uint64_t index) const {
        // index x elements / parts without the product, which could exceed 64 bits.
        return (index * elements_ + std::min(index, longer_parts_)) * element_bytes_;
    }

    std::uint64_t bytes_;
    std::uint64_t element_bytes_;
    std::uint64_t parts_;
    std::uint64_t elements_;     ///< in a part, at least
    std::uint64_t longer_parts_; ///< the first so many have one more
};

/// The chunks `first` .. `last` - 1 of `bytes` cut into `chunks`: consecutive, so they are one range.
ByteRange chunk_range(std::uint64_t bytes, std::uint64_t element_bytes, int chunks, int first, int last);

} // namespace generator
