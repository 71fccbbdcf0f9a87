#pragma once

#include "collectors/trace.hpp"
#include "generator/workload.hpp"

#include <cstdint>
#include <vector>

namespace generator {

/// Payload bytes of one bucket that `rank` sends to (tx) or receives from (rx) ranks beyond the interface
/// that it shares with `ranks`, by the plan. On loopback all payload crosses it.
std::uint64_t bucket_crossing_bytes(const Workload& workload, const WorkloadBucket& bucket, int rank,
                                    const std::vector<int>& ranks, int world_size,
                                    collectors::Direction direction, bool loopback);

/// The same of all `ranks` in iterations [first, last).
std::uint64_t crossing_bytes(const Workload& workload, const std::vector<int>& ranks, int world_size,
                             collectors::Direction direction, std::uint32_t first, std::uint32_t last,
                             bool loopback);

} // namespace generator
