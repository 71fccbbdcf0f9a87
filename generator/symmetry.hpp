#pragma once

#include "generator/transfer_plan.hpp"
#include "generator/workload.hpp"

#include <cstdint>
#include <optional>

namespace generator {

/// The plan of a collective in which every rank does the same, as one rank that stands for all of them: its
/// transfers go from rank 0 to rank 0, for what it sends to the peer at one distance is sent to it, at the
/// same time, by the peer at the opposite distance. A sender's and a receiver's port then carry exactly what
/// those of every rank do, so that the fluid model of one rank gives the times and rates of all.
///
/// nullopt unless all of this holds:
/// - every rank of the job takes part, in groups of equal size;
/// - each group's plans are the same but for a rotation of the positions (ring, sharded server, pairwise
///   all-to-all) or an exclusive or (halving and doubling, size a power of two). Compared are all positions
///   of groups of up to 64, and 24 of larger ones: plans are made by one rule for all positions;
/// - there is an element at least for each chunk. Chunks are taken as equal, although some are larger by one
///   element: the bytes are rounded up to a multiple of the number of chunks.
/// The caller sees to the rest: all ranks compute alike and have hosts and ports of their own.
std::optional<TransferPlan> representative_plan(const Workload& workload, const BucketKind& bucket,
                                                int world_size, std::optional<std::uint64_t> segment_bytes);

} // namespace generator
