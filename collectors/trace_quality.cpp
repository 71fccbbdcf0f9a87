#include "collectors/trace_quality.hpp"

#include "collectors/refresh_period.hpp"

#include <algorithm>
#include <vector>

namespace collectors {

namespace {

using std::chrono::nanoseconds;

Spread spread_of(std::vector<std::int64_t> values) {
    if (values.empty())
        return {};
    std::sort(values.begin(), values.end());
    // Nearest rank: the p-th percentile is a value that occurred.
    const auto rank = [&](std::size_t percent) {
        return nanoseconds{values[(values.size() * percent + 99) / 100 - 1]};
    };
    return {rank(50), rank(99), nanoseconds{values.back()}};
}

std::vector<std::int64_t> distances_of(const std::vector<Sample>& samples) {
    std::vector<std::int64_t> distances;
    for (std::size_t i = 1; i < samples.size(); ++i)
        distances.push_back(samples[i].t_ns - samples[i - 1].t_ns);
    return distances;
}

/// The distance that samples should have: as asked for, or the usual one where nobody knows (no sidecar). 0
/// for a trace without a grid.
std::int64_t expected_distance(const Trace& trace, const Spread& achieved) {
    if (trace.info.interval.count() > 0)
        return trace.info.interval.count();
    return trace.info.source.empty() ? achieved.p50.count() : 0;
}

Gaps gaps_of(const std::vector<std::int64_t>& distances, std::int64_t interval) {
    Gaps gaps;
    for (const std::int64_t distance : distances) {
        if (interval == 0 || distance <= 2 * interval)
            continue;
        ++gaps.count;
        gaps.longest = std::max(gaps.longest, nanoseconds{distance});
        gaps.total += nanoseconds{distance};
    }
    return gaps;
}

/// Tick n was due at n intervals. After a sample that served tick n the next one was due at n + 1, however
/// late it came; after a failed read nobody knows which tick was late.
std::vector<std::int64_t> lateness_of(const Trace& trace) {
    std::vector<std::int64_t> lateness;
    const std::int64_t interval = trace.info.interval.count();
    if (interval <= 0)
        return lateness;
    std::int64_t due = 0;
    for (const Sample& sample : trace.samples) {
        const std::int64_t tick = sample.t_ns / interval * interval;
        if (lateness.empty() || (sample.flags & SampleFlag::failed_reads) != 0)
            due = tick;
        if (sample.t_ns >= due) // the last sample comes between two ticks
            lateness.push_back(sample.t_ns - due);
        due = tick + interval;
    }
    return lateness;
}

} // namespace

double TraceQuality::missed_share() const {
    const std::uint64_t ticks = samples + missed + failed;
    return ticks == 0 ? 0 : static_cast<double>(missed) / static_cast<double>(ticks);
}

TraceQuality trace_quality(const Trace& trace) {
    TraceQuality quality;
    quality.samples = trace.samples.size();
    // A sidecar that was never finished does not know the totals; the flags of the samples do, nearly.
    const TraceInfo counted =
        trace.info.complete ? trace.info : clip(trace, nanoseconds::min(), nanoseconds::max()).info;
    quality.missed = counted.missed;
    quality.failed = counted.failed;
    if (trace.samples.empty())
        return quality;

    const std::vector<std::int64_t> distances = distances_of(trace.samples);
    std::vector<std::int64_t> widths;
    for (const Sample& sample : trace.samples)
        widths.push_back(std::int64_t{sample.rx_width_ns} + sample.tx_width_ns);
    quality.span = nanoseconds{trace.samples.back().t_ns - trace.samples.front().t_ns};
    quality.achieved_interval = spread_of(distances);
    quality.gaps = gaps_of(distances, expected_distance(trace, quality.achieved_interval));
    quality.lateness = spread_of(lateness_of(trace));
    quality.read_width = spread_of(widths);
    if (!counts_at_once(trace.info)) {
        quality.rx_refresh_period = refresh_period(readings(trace, Direction::rx));
        quality.tx_refresh_period = refresh_period(readings(trace, Direction::tx));
    }
    return quality;
}

Trace clip(const Trace& trace, nanoseconds from, nanoseconds to) {
    Trace part;
    part.info = trace.info;
    part.info.missed = 0;
    part.info.failed = 0;
    const std::int64_t interval = trace.info.interval.count();
    for (const Sample& sample : trace.samples) {
        if (sample.t_ns < from.count() || sample.t_ns + sample.rx_width_ns + sample.tx_width_ns > to.count())
            continue;
        if (!part.samples.empty() && interval > 0) {
            const std::int64_t ticks = sample.t_ns / interval - part.samples.back().t_ns / interval - 1;
            const auto absent = static_cast<std::uint64_t>(std::max<std::int64_t>(ticks, 0));
            if ((sample.flags & SampleFlag::failed_reads) != 0)
                part.info.failed += absent;
            else if ((sample.flags & SampleFlag::missed_ticks) != 0)
                part.info.missed += absent;
        }
        part.samples.push_back(sample);
    }
    return part;
}

} // namespace collectors
