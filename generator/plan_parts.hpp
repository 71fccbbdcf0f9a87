#pragma once

#include "generator/plan.hpp"

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

/// The chunks `first` .. `last` - 1 of `bytes` cut into `chunks`: consecutive, so they are one range.
ByteRange chunk_range(std::uint64_t bytes, std::uint64_t element_bytes, int chunks, int first, int last);

} // namespace generator
