#pragma once

#include "collectors/burstiness.hpp"
#include "collectors/dispersion.hpp"
#include "collectors/period.hpp"
#include "collectors/trace.hpp"
#include "collectors/trace_quality.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
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

/// Bursts above twice the mean rate; closer than `merge_gap` they are one. Estimates: each end of a burst is
/// uncertain by one distance between samples.
struct BurstSummary {
    double threshold_bits_per_second = 0;
    std::chrono::nanoseconds merge_gap{0};
    std::uint64_t count = 0;
    Spread length;
    Spread pause;             ///< from the end of a burst to the begin of the next
    std::uint64_t pauses = 0; ///< those without a gap in them, which `pause` is of
    double median_bytes = 0;
    double largest_bytes = 0;
    double duty_cycle = 0;     ///< share of the recorded time that is inside bursts, 0 to 1
    double share_of_bytes = 0; ///< share of all bytes that is inside bursts, 0 to 1
};

struct InterfaceSummary {
    std::string host;
    std::string interface;
    Direction direction = Direction::tx;
    TraceInfo info;
    std::uint64_t held_samples = 0; ///< in the file, also those outside of the asked time
    std::optional<bool> whole;      ///< false: it does not hold what was recorded, so `info` is not complete;
                                    ///< none: nobody counted that
    TraceQuality quality;
    std::optional<std::chrono::nanoseconds> refresh_period; ///< of this direction's counter
    std::uint64_t nic_bytes = 0;
    double mean_bits_per_second = 0;
    BurstinessCurve curve;
    std::vector<BacklogPoint> backlog;
    std::vector<DispersionPoint> dispersion; ///< for the windows of the curve
    BurstSummary bursts;
    std::optional<Period> period;      ///< of the traffic; none if it has none, or it is too short to tell
    std::vector<std::string> warnings; ///< in CAPITALS why a number should not be trusted
};

/// The link rates for the backlog of traffic whose mean rate, in bit/s, is known only once all was read.
using RatesOfMean = std::function<std::vector<BitRate>(double mean_bits_per_second)>;

/// The same rates for any traffic.
RatesOfMean always(std::vector<BitRate> rates);

struct SummarySettings {
    std::vector<std::chrono::nanoseconds> windows;
    RatesOfMean rates = always({});
    std::chrono::nanoseconds from = std::chrono::nanoseconds::min(); ///< only samples inside count
    std::chrono::nanoseconds to = std::chrono::nanoseconds::max();
};

/// Hands the samples of a trace block by block to a function, from the first to the last, each time it is
/// called.
using SampleBlocks = std::function<void(const std::function<void(std::span<const Sample>)>&)>;

/// One summary for each direction, in two passes over the blocks and in memory that does not grow with them.
std::vector<InterfaceSummary> summarize(const TraceInfo& info, const SampleBlocks& blocks,
                                        std::span<const Direction> directions,
                                        const SummarySettings& settings);

/// Pure. Only samples inside [from, to] count. A refresh period seen in the whole trace holds for each part
/// of it.
InterfaceSummary summarize(const Trace& trace, Direction direction, std::chrono::nanoseconds from,
                           std::chrono::nanoseconds to, std::span<const std::chrono::nanoseconds> windows,
                           const RatesOfMean& rates = always({}));

/// Of the curve's point i; nothing if there is none.
DispersionPoint dispersion_at(const InterfaceSummary& summary, std::size_t i);

/// "tx" or "rx".
std::string_view to_text(Direction direction);

/// One value per window of the summary, as predicted by a model; empty if there is no prediction.
using PredictedRatios = std::span<const std::optional<double>>;

/// The lines of a terminal report: what was recorded, E and PtM per window, backlog, bursts, warnings.
/// A window that is not resolved gets the reason instead of numbers.
std::string summary_text(const InterfaceSummary& summary, PredictedRatios predicted = {});

} // namespace collectors
