#pragma once

#include "generator/plan.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace generator {

/// Something that must have happened before a transfer begins.
struct TransferCondition {
    std::uint32_t transfer = 0;
    bool delivered = false; ///< to its receiver, one latency after its last byte; else: sent

    bool operator==(const TransferCondition&) const = default;
};

/// A send together with the receive that it meets.
struct Transfer {
    int from = 0;
    int to = 0;
    std::uint64_t bytes = 0;
    bool is_signal = false;
    std::uint64_t segment_bytes = 0; ///< what follows it gets it in pieces of this size
    std::uint32_t connection = 0;
    bool first_on_connection = true;
    std::optional<std::uint32_t> next_on_connection;
    std::vector<TransferCondition> after;
    std::vector<std::uint32_t> behind;    ///< follows these segment by segment
    std::vector<std::uint32_t> followers; ///< transfers that wait for this one, in either way
};

/// Transfers on one of the parallel connections between two ranks keep their order.
struct TransferConnection {
    int from = 0;
    int to = 0;
    std::uint32_t lane = 0;      ///< of the plan
    bool between_blocks = false; ///< to that rank's place in another block, see `fold_plan`

    auto operator<=>(const TransferConnection&) const = default;
};

/// The plans of all ranks, or of a block that stands for all, for one collective, joined: what the fluid
/// model executes.
struct TransferPlan {
    std::vector<Transfer> transfers;
    std::vector<TransferConnection> connections;
    std::vector<std::vector<std::uint32_t>>
        first;                                    ///< per rank: the first transfer of each of its connections
    std::vector<std::uint32_t> transfers_of_rank; ///< sent and received
    std::size_t participants = 0;                 ///< ranks that take part, even if they move nothing
};

/// Joins the k-th send from a to b with the k-th receive at b from a, on each lane. Without `segment_bytes` a
/// transfer is handed on as a whole. All ranks take part. Throws std::logic_error when the plans do not fit
/// together.
TransferPlan join_plans(std::span<const RankPlan> plans, std::optional<std::uint64_t> segment_bytes);

} // namespace generator
