#pragma once

#include "tools/report_input.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

/// What can be drawn over time, and the files that it is read from.
namespace tools {

/// A curve over time.
struct ChartCurve {
    std::string kind; ///< which chart it belongs to: "rate", "backlog", "drops", "rtt", ...
    std::string host;
    std::string interface;
    std::string name; ///< what tells it from its neighbours: "tx", "rank 3"
    std::string unit;
    bool is_switch_port = false;
    bool is_count = false;    ///< what counts in a bin is the sum, not the mean
    std::int64_t step_ns = 0; ///< of its fine grid; index 0 begins at the run's start
};

/// Calls back with the number of the curve, the index on its fine grid, and the value. Indices of one curve
/// do not fall. It may be called again and gives the same.
using CurveValues =
    std::function<void(const std::function<void(std::size_t curve, std::int64_t index, double value)>&)>;

/// The curves that one pass over one file gives.
struct CurveSource {
    std::vector<ChartCurve> curves;
    CurveValues values;
};

/// Rates of a trace in Mbit/s: both directions; of a switch port what leaves it.
CurveSource rate_source(const TraceSource& trace);
/// The backlog and the drops of the queue of a switch port or an interface; backlog, drops, retransmits,
/// timeouts and marks of the slow lane.
CurveSource lane_source(const LaneSource& lane);
/// Round-trip times, congestion windows and retransmits of each rank's connections when a bucket ended; of
/// all ranks together where there are more than `most_ranks`. No curves if there is no tcp.csv.
CurveSource tcp_source(const ReportInput& input, std::size_t most_ranks = 8);

} // namespace tools
