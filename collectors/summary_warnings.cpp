#include "collectors/summary_warnings.hpp"

#include "collectors/host_clocks.hpp"

#include <cstdlib>
#include <set>

#include <fmt/format.h>

namespace collectors {

namespace {

constexpr std::int64_t tolerable_step_ns = 1'000'000; // of the wall clock

bool is_debug_build(const std::string& build_type) {
    return !build_type.empty() && build_type != "Release" && build_type != "RelWithDebInfo" &&
           build_type != "MinSizeRel";
}

} // namespace

std::vector<std::string> warnings_about(const InterfaceSummary& summary) {
    const TraceQuality& quality = summary.quality;
    std::vector<std::string> warnings;
    if (summary.whole == false)
        warnings.push_back(summary.info.samples
                               ? fmt::format("TRACE IS NOT WHOLE: {} samples of {} that were recorded are in "
                                             "its files; what the others told is not known",
                                             summary.held_samples, *summary.info.samples)
                               : "TRACE IS NOT WHOLE: a file does not hold what was recorded into it");
    else if (!summary.info.complete)
        warnings.push_back(fmt::format("INCOMPLETE TRACE: recording did not end properly ({})",
                                       summary.info.reason.empty() ? "reason unknown" : summary.info.reason));
    if (summary.info.lost_from)
        warnings.push_back(fmt::format(
            "LOST COUNTERS: what passed later than {} after the start of recording is not known ({})",
            format_duration(*summary.info.lost_from), summary.info.reason));
    if (quality.missed_share() > most_missed_share)
        warnings.push_back(
            fmt::format("MISSED TICKS: {}{:.1f} % of all ticks were skipped; give the sampler CPU time or "
                        "a longer interval",
                        quality.ticks_known ? "" : "at least ", 100 * quality.missed_share()));
    if (quality.failed > 0)
        warnings.push_back(fmt::format("FAILED READS: {} reads failed or were dropped", quality.failed));
    if (quality.restarts > 0)
        warnings.push_back(fmt::format(
            "COUNTERS STARTED ANEW {} time{}: a device came back, or a counter fell or rose by more than any "
            "port carries; what passed between "
            "the samples around it is not counted, and not part of the mean; upper bounds hold for what was "
            "counted",
            quality.restarts, quality.restarts == 1 ? "" : "s"));
    if (quality.suspends > 0)
        warnings.push_back(fmt::format(
            "HOST WAS SUSPENDED {} time{}, for {}: the clock of the trace stood still meanwhile; what passed "
            "then is not counted",
            quality.suspends, quality.suspends == 1 ? "" : "s",
            summary.info.clocks.suspended_ns > 0
                ? format_duration(std::chrono::nanoseconds(summary.info.clocks.suspended_ns))
                : "a time that is not known"));
    // Few gaps widen the distance between the lower and the upper bound, which is shown; many hide what
    // happened.
    if (static_cast<double>(quality.gaps.total.count()) >
        most_gap_share * static_cast<double>(quality.span.count()))
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

std::vector<std::string> warnings_about_hosts(std::span<const TraceInfo> traces) {
    std::set<std::string> told;
    std::vector<std::string> warnings;
    for (const TraceInfo& info : traces)
        if (const std::int64_t step = realtime_step_ns(info);
            std::abs(step) > tolerable_step_ns && told.insert(info.host).second)
            warnings.push_back(fmt::format(
                "WALL CLOCK MOVED by {:.6f} s on {} while recording: times of day before and after differ "
                "by that; no interval does",
                static_cast<double>(step) / 1e9, info.host.empty() ? "an unknown host" : info.host));
    return warnings;
}

} // namespace collectors
