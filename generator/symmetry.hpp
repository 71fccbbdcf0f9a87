#pragma once

#include "generator/blocks.hpp"
#include "generator/transfer_plan.hpp"
#include "generator/workload.hpp"

#include <cstdint>
#include <optional>
#include <set>

namespace generator {

/// A plan of one block that stands for all, and where its ranks send.
struct FoldedPlan {
    TransferPlan plan;
    std::set<Hop> hops;
};

/// The plan of a collective in which every block of `block_size` ranks does the same, as the plan of one
/// block that stands for all of them. What a rank sends to another block goes to the peer's place in its own,
/// marked `between_blocks`: the same is sent to it, at the same time, from the block at the opposite
/// distance. Each port of the block, and of the leaf that it may be, then carries exactly what that port
/// carries of every block, so that the fluid model of one gives the times and rates of all (where max-min
/// fair rates are unique, equal blocks have equal ones). A block of one rank sends everything to itself.
///
/// nullopt unless all of this holds:
/// - every rank of the job takes part: all together, or, with a block of one, in groups of equal size;
/// - the plans at one place of all blocks are the same but for a rotation (ring, sharded server, pairwise
///   all-to-all, hierarchical) or an exclusive or (halving and doubling, sizes a power of two). Compared are
///   all blocks in groups of up to 64 ranks, and some in larger ones: plans are made by one rule for all;
/// - there is an element at least for each chunk. Chunks are taken as equal, although some are larger by one
///   element: the bytes are rounded up to a multiple of the number of chunks.
/// The caller sees to the rest: all ranks compute alike, and blocks have equal hosts and ports.
std::optional<FoldedPlan> fold_plan(const Workload& workload, const BucketKind& bucket, int world_size,
                                    int block_size, std::optional<std::uint64_t> segment_bytes);

} // namespace generator
