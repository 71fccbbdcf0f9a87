#pragma once

#include "collectors/trace.hpp"
#include "generator/workload.hpp"

#include <cstdint>
#include <vector>

namespace generator {

/// Payload that crosses an interface.
struct Crossing {
    std::uint64_t bytes = 0;
    std::uint64_t messages = 0; ///< pieces that are handed over, each perhaps as a packet of its own
};

/// What `rank` sends to (tx) or receives from (rx) ranks beyond the interface that it shares with `ranks` in
/// one bucket, by the plan. On loopback all payload crosses it.
Crossing bucket_crossing(const Workload& workload, const WorkloadBucket& bucket, int rank,
                         const std::vector<int>& ranks, int world_size, collectors::Direction direction,
                         bool loopback);

/// The same of all `ranks` in iterations [first, last).
Crossing crossing(const Workload& workload, const std::vector<int>& ranks, int world_size,
                  collectors::Direction direction, std::uint32_t first, std::uint32_t last, bool loopback);

} // namespace generator
