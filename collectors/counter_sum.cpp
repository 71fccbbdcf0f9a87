#include "collectors/counter_sum.hpp"

#include "collectors/segments.hpp"
#include "collectors/summary_warnings.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>

namespace collectors {

namespace {

/// One trace's readings in the time of the sum, and how far they have been used.
struct Term {
    std::vector<Reading> readings;
    std::size_t at = 0;

    /// Goes on to the reading nearest to `instant`; true if the counter started anew on the way.
    bool advance_to(double instant) {
        bool anew = false;
        const auto distance = [&](std::size_t i) { return std::abs(midpoint_ns(readings[i]) - instant); };
        while (at + 1 < readings.size() && distance(at + 1) <= distance(at)) {
            anew = anew || starts_segment(readings[at + 1], readings[at]);
            ++at;
        }
        return anew;
    }
    const Reading& reading() const { return readings[at]; }
};

Term term_of(const SumPart& part, Direction direction) {
    Term term{readings(*part.trace, direction)};
    if (term.readings.empty())
        return term;
    const std::int64_t first_ns = term.readings.front().begin_ns;
    const auto span_ns =
        static_cast<double>(std::max<std::int64_t>(1, term.readings.back().begin_ns - first_ns));
    for (Reading& reading : term.readings) {
        const double share = static_cast<double>(reading.begin_ns - first_ns) / span_ns;
        const std::int64_t drift_ns = std::llround(share * static_cast<double>(part.drift.count()));
        reading.begin_ns += (part.offset - part.uncertainty).count() + drift_ns;
        reading.end_ns += (part.offset + part.uncertainty).count() + drift_ns;
    }
    return term;
}

/// Only what lies in the time that all traces cover.
void keep_common(std::vector<Term>& terms) {
    double from = std::numeric_limits<double>::lowest();
    double to = std::numeric_limits<double>::max();
    for (const Term& term : terms) {
        if (term.readings.empty())
            throw std::invalid_argument("a trace without samples has no sum with others");
        from = std::max(from, midpoint_ns(term.readings.front()));
        to = std::min(to, midpoint_ns(term.readings.back()));
    }
    if (from >= to)
        throw std::invalid_argument("the traces have no time in common; is an offset wrong?");
    for (Term& term : terms)
        std::erase_if(term.readings, [&](const Reading& reading) {
            return midpoint_ns(reading) < from || midpoint_ns(reading) > to;
        });
    if (std::any_of(terms.begin(), terms.end(), [](const Term& term) { return term.readings.empty(); }))
        throw std::invalid_argument("a trace has no sample in the time that all cover");
}

TraceInfo info_of(std::span<const SumPart> parts) {
    TraceInfo info = parts.front().trace->info;
    info.interface.clear();
    info.samples.reset();
    for (const SumPart& part : parts) {
        const TraceInfo& each = part.trace->info;
        info.interface +=
            fmt::format("{}{}:{}", info.interface.empty() ? "" : " + ", each.host, each.interface);
        info.interval = std::max(info.interval, each.interval);
        if (each.host != parts.front().trace->info.host)
            info.sampler = {}; // each host has its own
        info.complete = info.complete && each.complete;
        if (each.driver != info.driver)
            info.driver.clear(); // one slow counter makes the sum slow
        if (each.byte_unit != info.byte_unit)
            info.byte_unit = "different units: see the sidecars";
    }
    info.host = "sum";
    return info;
}

/// Of what lies in the time that the sum covers.
TraceQuality quality_within(const SumPart& part, const Trace& sum) {
    const std::int64_t from = sum.samples.front().t_ns - part.offset.count();
    const Sample& last = sum.samples.back();
    const std::int64_t to =
        last.t_ns + last.rx_width_ns + last.tx_width_ns - (part.offset + part.drift).count();
    OnlineQuality quality(part.trace->info);
    std::size_t count = 0;
    for (const Sample& sample : part.trace->samples)
        if (sample.t_ns >= from && sample.t_ns <= to) {
            quality.add(std::span(&sample, 1));
            ++count;
        }
    return quality.quality(count == part.trace->samples.size());
}

/// So many of the sum's samples as there were of the trace's own: the share stays.
std::uint64_t scaled(std::uint64_t count, const TraceQuality& own, const TraceQuality& sum) {
    return own.samples == 0 ? count
                            : static_cast<std::uint64_t>(
                                  std::llround(static_cast<double>(count) * static_cast<double>(sum.samples) /
                                               static_cast<double>(own.samples)));
}

/// Each figure of the trace in which it is worst.
TraceQuality with_worst_of(TraceQuality quality, std::span<const SumPart> parts, const Trace& sum) {
    quality.missed = quality.failed = 0;
    quality.lateness = {};
    for (const SumPart& part : parts) {
        const TraceQuality own = quality_within(part, sum);
        quality.ticks_known = quality.ticks_known && own.ticks_known;
        quality.missed = std::max(quality.missed, scaled(own.missed, own, quality));
        quality.failed = std::max(quality.failed, scaled(own.failed, own, quality));
        quality.lateness.p50 = std::max(quality.lateness.p50, own.lateness.p50);
        quality.lateness.p99 = std::max(quality.lateness.p99, own.lateness.p99);
        quality.lateness.max = std::max(quality.lateness.max, own.lateness.max);
        if (own.gaps.total > quality.gaps.total)
            quality.gaps = own.gaps;
    }
    return quality;
}

} // namespace

Trace sum_of(std::span<const SumPart> parts, Direction direction) {
    std::vector<Term> terms;
    for (const SumPart& part : parts)
        terms.push_back(term_of(part, direction));
    keep_common(terms);
    const auto pace = std::min_element(terms.begin(), terms.end(), [](const Term& left, const Term& right) {
                          return left.readings.size() < right.readings.size();
                      })->readings;
    Trace sum{info_of(parts), {}};
    std::uint32_t flags = 0;
    for (const Reading& leading : pace) {
        Reading whole{std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min(), 0,
                      false};
        for (Term& term : terms) {
            if (term.advance_to(midpoint_ns(leading)))
                flags |= SampleFlag::new_segment;
            whole.begin_ns = std::min(whole.begin_ns, term.reading().begin_ns);
            whole.end_ns = std::max(whole.end_ns, term.reading().end_ns);
            whole.bytes += term.reading().bytes;
        }
        const std::int64_t width = whole.end_ns - whole.begin_ns;
        if (width > std::numeric_limits<std::uint32_t>::max()) { // a hole of seconds in one of them
            flags |= SampleFlag::failed_reads;
            continue;
        }
        Sample sample{.t_ns = whole.begin_ns, .flags = flags};
        (direction == Direction::rx ? sample.rx_width_ns : sample.tx_width_ns) =
            static_cast<std::uint32_t>(width);
        (direction == Direction::rx ? sample.rx_bytes : sample.tx_bytes) = whole.bytes;
        sum.samples.push_back(sample);
        flags = 0;
    }
    if (sum.samples.empty())
        throw std::invalid_argument(
            "no readings of the traces can be told to be of one time: the error of an "
            "offset is too large, or a trace has a hole of seconds");
    return sum;
}

InterfaceSummary summarize_sum(std::span<const SumPart> parts, Direction direction,
                               std::span<const std::chrono::nanoseconds> windows,
                               std::span<const BitRate> rates) {
    using std::chrono::nanoseconds;
    const Trace sum = sum_of(parts, direction);
    InterfaceSummary summary =
        summarize(sum, direction, nanoseconds::min(), nanoseconds::max(),
                  windows.empty() ? standard_windows() : windows, always({rates.begin(), rates.end()}));
    summary.quality = with_worst_of(summary.quality, parts, sum);
    for (const SumPart& part : parts)
        if (is_whole(part.trace->info, part.trace->samples.size()) == false) {
            summary.whole = false;
            summary.info.complete = false;
        }
    summary.warnings = warnings_about(summary);
    return summary;
}

} // namespace collectors
