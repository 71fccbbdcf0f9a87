#include "collectors/summary.hpp"

#include <iterator>

#include <fmt/format.h>

namespace collectors {

namespace {

using std::chrono::nanoseconds;
using Text = fmt::memory_buffer;

template <typename... Arguments>
void line(Text& text, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(text), format, std::forward<Arguments>(arguments)...);
    while (text.size() > 0 && text[text.size() - 1] == ' ') // left by the padding of the last column
        text.resize(text.size() - 1);
    text.push_back('\n');
}

std::string spread_text(const Spread& spread) {
    return fmt::format("p50 {}, p99 {}, max {}", format_duration(spread.p50), format_duration(spread.p99),
                       format_duration(spread.max));
}

/// "12 missed"; of what nobody knows the number, what is known.
std::string count_text(const TraceQuality& quality, std::uint64_t count, std::string_view of) {
    if (quality.ticks_known)
        return fmt::format("{} {}", count, of);
    return count == 0 ? fmt::format("{} not known", of) : fmt::format("at least {} {}", count, of);
}

void add_recording(Text& text, const InterfaceSummary& summary) {
    const TraceQuality& quality = summary.quality;
    line(text, "  recorded    {} in {} samples; {}, {}, {} gaps", format_duration(summary.curve.span),
         quality.samples, count_text(quality, quality.missed, "missed"),
         count_text(quality, quality.failed, "failed"), quality.gaps.count);
    for (const Renaming& renaming : summary.info.renamings)
        if (renaming.name.empty())
            line(
                text,
                "  gone        from this network namespace after {}; samples after that are of counters that "
                "could still be read",
                format_duration(nanoseconds(renaming.t_ns)));
        else
            line(text, "  renamed     to {} after {}", renaming.name,
                 format_duration(nanoseconds(renaming.t_ns)));
    if (summary.info.source != "prediction") {
        const nanoseconds interval = summary.info.interval;
        line(text, "  interval    {}; {}",
             interval.count() > 0 ? format_duration(interval) + " asked for" : "unknown",
             spread_text(quality.achieved_interval));
        line(text, "  lateness    {}", interval.count() > 0 ? spread_text(quality.lateness) : "not known");
        line(text, "  read width  {}", spread_text(quality.read_width));
        line(text, "  resolved    from {} on", format_duration(summary.curve.resolved_from));
        if (const SamplerFacts& sampler = summary.info.sampler; !sampler.scheduling.empty())
            line(text, "  sampler     {:.1f} % of a CPU for {} source{}, {}{}{}", 100 * sampler.cpu_share,
                 sampler.sources, sampler.sources == 1 ? "" : "s", sampler.scheduling,
                 sampler.cpu ? fmt::format(" on CPU {}", *sampler.cpu) : "",
                 sampler.spin.count() > 0
                     ? fmt::format(", spins {} before each sample", format_duration(sampler.spin))
                     : "");
    }
    if (summary.nic_bytes == 0)
        line(text, "  traffic     no traffic");
    else
        line(text, "  traffic     {}, mean {}", format_bytes(static_cast<double>(summary.nic_bytes)),
             format_bit_rate(summary.mean_bits_per_second));
}

/// Why a window has no numbers; empty if it has.
std::string unresolved_reason(const InterfaceSummary& summary, const BurstinessPoint& point) {
    if (point.resolved)
        return {};
    if (point.window > summary.curve.span)
        return "trace too short";
    if (point.window > summary.curve.longest_segment)
        return "longer than the counter ran without starting anew";
    if (summary.refresh_period && point.window < 2 * *summary.refresh_period)
        return fmt::format("not resolved (the counter moves only every {})",
                           format_duration(*summary.refresh_period));
    if (summary.info.interval <= point.window / 10)
        return fmt::format("not resolved (samples came only every {})",
                           format_duration(summary.quality.achieved_interval.p50));
    return fmt::format("not resolved (needs --interval <= {})", format_duration(point.window / 10));
}

void add_curve(Text& text, const InterfaceSummary& summary, PredictedRatios predicted) {
    line(text, "");
    line(text, "  {:>8}  {:^35}  {:^26}{}  {:^18}", "", "E(tau), most bytes in a window",
         "PtM(tau), peak to mean", predicted.empty() ? "" : "  predicted", "variation of bytes");
    line(text, "  {:>8}  {:>11} {:>11} {:>11}  {:>8} {:>8} {:>8}{}  {:>6} {:>11}", "tau", "lower", "estimate",
         "upper", "lower", "estimate", "upper", predicted.empty() ? "" : "        PtM", "CV", "dispersion");
    for (std::size_t i = 0; i < summary.curve.points.size(); ++i) {
        const BurstinessPoint& point = summary.curve.points[i];
        const std::string reason = unresolved_reason(summary, point);
        std::string row;
        if (reason.empty()) {
            const Bounds ratio = peak_to_mean(summary.curve, point);
            row = fmt::format("{:>11} {:>11} {:>11}  {:>8.2f} {:>8.2f} {:>8.2f}",
                              format_bytes(point.bytes.lower), format_bytes(point.bytes.estimate),
                              format_bytes(point.bytes.upper), ratio.lower, ratio.estimate, ratio.upper);
        } else {
            row = fmt::format("{:<63}", reason);
        }
        if (!predicted.empty())
            row += fmt::format("  {:>9}", i < predicted.size() && predicted[i]
                                              ? fmt::format("{:.2f}", *predicted[i])
                                              : std::string());
        if (const DispersionPoint varied = dispersion_at(summary, i); reason.empty() && varied.shown())
            row += fmt::format("  {:>6.2f} {:>11}", varied.coefficient_of_variation,
                               format_bytes(varied.index_of_dispersion_bytes));
        line(text, "  {:>8}  {}", format_duration(point.window), row);
    }
}

void add_backlog(Text& text, const InterfaceSummary& summary) {
    if (summary.backlog.empty())
        return;
    line(text, "");
    line(text, "  B_max(r), the largest queue if this traffic fed a link of rate r");
    for (const BacklogPoint& point : summary.backlog)
        line(text, "  {:>14}  at least {}, estimate {}, at most {}",
             format_bit_rate(static_cast<double>(point.rate.bits_per_second)),
             format_bytes(point.bytes.lower), format_bytes(point.bytes.estimate),
             format_bytes(point.bytes.upper));
}

void add_burst_rows(Text& text, const InterfaceSummary& summary) {
    const BurstSummary& bursts = summary.bursts;
    line(text, "  bursts      {} above {} (twice the mean); median {} long, {}; largest {}", bursts.count,
         format_bit_rate(bursts.threshold_bits_per_second), format_duration(bursts.length.p50),
         format_bytes(bursts.median_bytes), format_bytes(bursts.largest_bytes));
    // Zero for a prediction, which knows when its bursts begin.
    if (const nanoseconds step = summary.quality.achieved_interval.p50;
        summary.curve.resolved_from.count() > 0)
        line(text, "              each end +- {}; those less than {} apart count as one{}",
             format_duration(step), format_duration(bursts.merge_gap),
             bursts.length.p50 < summary.curve.resolved_from ? "; SHORTER THAN WHAT IS RESOLVED" : "");
    line(text, "              {:.1f} % of the time, {:.1f} % of the bytes", 100 * bursts.duty_cycle,
         100 * bursts.share_of_bytes);
    if (bursts.count > 1)
        line(text, "  pauses      {}", spread_text(bursts.pause));
}

void add_bursts(Text& text, const InterfaceSummary& summary) {
    const BurstSummary& bursts = summary.bursts;
    line(text, "");
    if (bursts.count == 0)
        line(text, "  bursts      none above {} (twice the mean)",
             format_bit_rate(bursts.threshold_bits_per_second));
    else
        add_burst_rows(text, summary);
    if (summary.period)
        line(text, "  period      {} (autocorrelation {:.2f})", format_duration(summary.period->length),
             summary.period->autocorrelation);
}

} // namespace

std::string summary_text(const InterfaceSummary& summary, PredictedRatios predicted) {
    Text text;
    line(text, "{} {} {}", summary.host.empty() ? "unknown host" : summary.host,
         summary.interface.empty() ? "unknown interface" : summary.interface, to_text(summary.direction));
    add_recording(text, summary);
    if (summary.nic_bytes > 0) {
        add_curve(text, summary, predicted);
        add_backlog(text, summary);
        add_bursts(text, summary);
    }
    for (const std::string& warning : summary.warnings)
        line(text, "  WARNING: {}", warning);
    return fmt::to_string(text);
}

} // namespace collectors
