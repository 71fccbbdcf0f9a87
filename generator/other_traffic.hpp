#pragma once

#include "collectors/trace.hpp"
#include "generator/timeline.hpp"
#include "generator/workload.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace generator {

struct FlowRecord;

/// What another job of the launch sends over an interface.
struct OtherTraffic {
    std::string job;
    const Workload* workload = nullptr;
    int world_size = 1;
    std::vector<int> ranks;                              ///< that use the interface
    std::vector<const Timeline*> timelines;              ///< of these; nullptr: the rank did not answer
    const std::vector<FlowRecord>* background = nullptr; ///< of the whole job; nullptr: none
};

/// Payload bytes of other jobs that crossed an interface in a span of time. A bucket that began or ended
/// outside it may have moved all of its bytes inside, or none.
struct OtherPayload {
    std::uint64_t least_bytes = 0;
    std::optional<std::uint64_t> most_bytes = 0; ///< empty: a rank did not tell what it sent
    std::uint64_t messages = 0;                  ///< in the most; see Crossing
};

/// Both together.
OtherPayload operator+(OtherPayload left, const OtherPayload& right);

/// Of the collectives, over [from_ns, to_ns) on CLOCK_MONOTONIC of the interface's host.
OtherPayload other_payload(const std::vector<OtherTraffic>& others, collectors::Direction direction,
                           std::int64_t from_ns, std::int64_t to_ns, bool loopback);

} // namespace generator
