#pragma once

#include "collectors/burstiness.hpp"
#include "collectors/trace.hpp"
#include "collectors/trace_quality.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// What one trace says about one direction of one interface: the same numbers for a recording, a run and a
/// prediction.
namespace collectors {

struct BacklogPoint {
    BitRate rate;
    Bounds bytes;
};

/// Bursts above twice the mean rate; closer than `merge_gap` they are one.
struct BurstSummary {
    double threshold_bits_per_second = 0;
    std::chrono::nanoseconds merge_gap{0};
    std::uint64_t count = 0;
    std::chrono::nanoseconds median_length{0};
    double median_bytes = 0;
};

struct InterfaceSummary {
    std::string host;
    std::string interface;
    Direction direction = Direction::tx;
    TraceInfo info;
    TraceQuality quality;
    std::optional<std::chrono::nanoseconds> refresh_period; ///< of this direction's counter
    std::uint64_t nic_bytes = 0;
    double mean_bits_per_second = 0;
    BurstinessCurve curve;
    std::vector<BacklogPoint> backlog;
    BurstSummary bursts;
    std::vector<std::string> warnings; ///< in CAPITALS why a number should not be trusted
};

/// Pure. Only samples inside [from, to] count. A refresh period seen in the whole trace holds for each part
/// of it.
InterfaceSummary summarize(const Trace& trace, Direction direction, std::chrono::nanoseconds from,
                           std::chrono::nanoseconds to, std::span<const std::chrono::nanoseconds> windows,
                           std::span<const BitRate> rates);

/// "tx" or "rx".
std::string_view to_text(Direction direction);

/// One value per window of the summary, as predicted by a model; empty if there is no prediction.
using PredictedRatios = std::span<const std::optional<double>>;

/// The lines of a terminal report: what was recorded, E and PtM per window, backlog, bursts, warnings.
/// A window that is not resolved gets the reason instead of numbers.
std::string summary_text(const InterfaceSummary& summary, PredictedRatios predicted = {});

} // namespace collectors
