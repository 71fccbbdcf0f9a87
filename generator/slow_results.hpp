#pragma once

#include "collectors/slow_lane.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace generator {

/// What the slow lane beside one trace counted over the whole run: it explains the run.
struct SlowLaneResult {
    std::string host;
    std::string interface;
    std::string file; ///< relative to the run directory
    std::vector<collectors::SlowTotal> totals;

    /// Of that column; nullptr where the kernel does not tell.
    const collectors::SlowTotal* total(std::string_view column) const;
};

/// A table for people: the interfaces of hosts that lost or repeated something, and how many did not.
std::string slow_lane_text(const std::vector<SlowLaneResult>& results);

inline constexpr const char* slow_lane_covers =
    "from the start of sampling to its end, warm-up included; tcp_ and ecn_ count all connections of the "
    "host's network namespace, not this run's alone";

} // namespace generator
