#include "collectors/summary.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace collectors {

namespace {

using std::chrono::nanoseconds;

constexpr double tolerable_share = 0.05; // of skipped ticks, or of time in gaps

template <typename Value>
Value median(std::vector<Value> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

BurstSummary summarize_bursts(std::span<const Reading> readings, double mean_bits_per_second,
                              nanoseconds interval) {
    using namespace std::chrono_literals;
    BurstSummary summary;
    summary.threshold_bits_per_second = 2 * mean_bits_per_second;
    summary.merge_gap = std::max<nanoseconds>(2ms, 4 * interval);
    if (mean_bits_per_second <= 0)
        return summary;
    const BitRate threshold{static_cast<std::uint64_t>(std::llround(summary.threshold_bits_per_second))};
    std::vector<nanoseconds> lengths;
    std::vector<double> bytes;
    for (const Burst& burst : find_bursts(readings, threshold, summary.merge_gap)) {
        lengths.push_back(burst.length());
        bytes.push_back(burst.bytes);
    }
    summary.count = lengths.size();
    if (summary.count > 0) {
        summary.median_length = median(lengths);
        summary.median_bytes = median(bytes);
    }
    return summary;
}

bool is_debug_build(const std::string& build_type) {
    return !build_type.empty() && build_type != "Release" && build_type != "RelWithDebInfo" &&
           build_type != "MinSizeRel";
}

std::vector<std::string> warnings_about(const InterfaceSummary& summary) {
    const TraceQuality& quality = summary.quality;
    std::vector<std::string> warnings;
    if (!summary.info.complete)
        warnings.push_back(fmt::format("INCOMPLETE TRACE: recording did not end properly ({})",
                                       summary.info.reason.empty() ? "reason unknown" : summary.info.reason));
    if (quality.missed_share() > tolerable_share)
        warnings.push_back(
            fmt::format("MISSED TICKS: {:.1f} % of all ticks were skipped; give the sampler CPU time or "
                        "a longer interval",
                        100 * quality.missed_share()));
    if (quality.failed > 0)
        warnings.push_back(fmt::format("FAILED READS: {} reads failed or were dropped", quality.failed));
    // Few gaps widen the distance between the lower and the upper bound, which is shown; many hide what
    // happened.
    if (static_cast<double>(quality.gaps.total.count()) >
        tolerable_share * static_cast<double>(quality.span.count()))
        warnings.push_back(fmt::format(
            "GAPS: {} gaps, {} in total, the longest {}: when bytes passed within them is not known",
            quality.gaps.count, format_duration(quality.gaps.total), format_duration(quality.gaps.longest)));
    if (summary.refresh_period)
        warnings.push_back(fmt::format(
            "SLOW COUNTER: it moves only every {}; nothing below {} can be resolved",
            format_duration(*summary.refresh_period), format_duration(summary.curve.resolved_from)));
    if (is_debug_build(summary.info.build_type))
        warnings.push_back(
            fmt::format("DEBUG BUILD: recorded by a {} build; its timing is not that of a release build",
                        summary.info.build_type));
    return warnings;
}

} // namespace

InterfaceSummary summarize(const Trace& trace, Direction direction, nanoseconds from, nanoseconds to,
                           std::span<const nanoseconds> windows, std::span<const BitRate> rates) {
    InterfaceSummary summary;
    summary.host = trace.info.host;
    summary.interface = trace.info.interface;
    summary.direction = direction;
    summary.info = trace.info;
    const TraceQuality whole = trace_quality(trace);
    summary.refresh_period = direction == Direction::rx ? whole.rx_refresh_period : whole.tx_refresh_period;
    const Trace part = clip(trace, from, to);
    const bool clipped = part.samples.size() != trace.samples.size();
    summary.quality = clipped ? trace_quality(part) : whole;

    const std::vector<Reading> inside = readings(part, direction);
    summary.curve = burstiness_curve(inside, windows, summary.refresh_period);
    summary.nic_bytes = summary.curve.total_bytes;
    summary.mean_bits_per_second = 8 * summary.curve.mean_bytes_per_second;
    for (const BitRate rate : rates)
        summary.backlog.push_back({rate, max_backlog(inside, rate)});
    summary.bursts =
        summarize_bursts(inside, summary.mean_bits_per_second, summary.quality.achieved_interval.p50);
    summary.warnings = warnings_about(summary);
    return summary;
}

std::string_view to_text(Direction direction) {
    return direction == Direction::tx ? "tx" : "rx";
}

} // namespace collectors
