#pragma once

#include "generator/plan.hpp"

#include <cstdint>
#include <functional>
#include <vector>

/// Plans over several connections to the same peer. Nothing here knows what the plan is a plan of.
namespace generator {

/// A part of a transfer (offset counts from the transfer's first byte) and the lane that it takes, counted
/// from the lane of the whole one.
struct Strip {
    std::uint32_t lane = 0;
    ByteRange part;
};

/// How a transfer is cut when so many strips have gone to (or come from) the same peer on the same lane
/// before. Sender and receiver ask the same, and so cut alike.
using Cut = std::function<std::vector<Strip>(std::uint64_t bytes, std::uint64_t strips_before)>;

/// The plan with each transfer cut into strips that move side by side. What was `behind` a receive has its
/// strips behind the strips of that; what came `after` one comes after all its strips. Each lane becomes
/// `lanes` lanes. Signals stay whole. Operations of the plan refer to earlier ones only.
RankPlan striped(const RankPlan& plan, std::uint32_t lanes, const Cut& cut);

/// Equal parts, split between elements; few elements leave lanes out.
Cut equal_strips(std::uint32_t lanes, std::uint64_t element_bytes);

/// As NCCL's socket transport: pieces of at least `least_piece_bytes`, dealt to the sockets in turn, the next
/// transfer going on where the last one ended.
Cut socket_pieces(std::uint32_t sockets, std::uint64_t element_bytes, std::uint64_t least_piece_bytes);

} // namespace generator
