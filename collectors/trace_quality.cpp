#include "collectors/trace_quality.hpp"

#include "collectors/segments.hpp"

#include <algorithm>

namespace collectors {

namespace {

using std::chrono::nanoseconds;

Spread spread_of(const Histogram& values) {
    return {nanoseconds{values.percentile(50)}, nanoseconds{values.percentile(99)},
            nanoseconds{values.most()}};
}

bool restarts(const Sample& sample, const Sample& before) {
    return starts_segment(reading_of(sample, Direction::rx), reading_of(before, Direction::rx)) ||
           starts_segment(reading_of(sample, Direction::tx), reading_of(before, Direction::tx));
}

} // namespace

double TraceQuality::missed_share() const {
    const std::uint64_t ticks = samples + missed + failed;
    return ticks == 0 ? 0 : static_cast<double>(missed) / static_cast<double>(ticks);
}

OnlineQuality::OnlineQuality(const TraceInfo& info) : info_(info), refresh_(info) {}

void OnlineQuality::add(std::span<const Sample> samples) {
    refresh_.add(samples);
    for (const Sample& sample : samples)
        add(sample);
}

void OnlineQuality::add(const Sample& sample) {
    const std::int64_t interval = info_.interval.count();
    widths_.add(std::int64_t{sample.rx_width_ns} + sample.tx_width_ns);
    if (samples_ > 0)
        distances_.add(sample.t_ns - last_.t_ns);
    else
        first_ns_ = sample.t_ns;
    count_absent(sample);
    if (interval > 0)
        count_lateness(sample, interval);
    if (samples_ > 0 && (sample.flags & SampleFlag::host_suspended) != 0)
        ++suspends_;
    else if (samples_ > 0 && restarts(sample, last_))
        ++restarts_;
    last_ = sample;
    ++samples_;
}

void OnlineQuality::count_absent(const Sample& sample) {
    const bool missed = (sample.flags & SampleFlag::missed_ticks) != 0;
    const bool failed = (sample.flags & SampleFlag::failed_reads) != 0;
    std::int64_t absent = 1;
    if (const std::int64_t interval = info_.interval.count(); interval > 0 && samples_ > 0)
        absent = std::max(absent, sample.t_ns / interval - last_.t_ns / interval - 1);
    if (failed)
        failed_ += static_cast<std::uint64_t>(std::max<std::int64_t>(absent - (missed ? 1 : 0), 1));
    if (missed)
        missed_ += static_cast<std::uint64_t>(failed ? 1 : absent);
}

/// Tick n was due at n intervals. After a sample that served tick n the next one was due at n + 1, however
/// late it came; after a failed read nobody knows which tick was late.
void OnlineQuality::count_lateness(const Sample& sample, std::int64_t interval) {
    const std::int64_t tick = sample.t_ns / interval * interval;
    if (lateness_.count() == 0 || (sample.flags & SampleFlag::failed_reads) != 0)
        due_ns_ = tick;
    if (sample.t_ns >= due_ns_) // the last sample comes between two ticks
        lateness_.add(sample.t_ns - due_ns_);
    due_ns_ = tick + interval;
}

/// The distance that samples should have: as asked for, or the usual one where nobody knows (no sidecar). 0
/// for a trace without a grid.
std::int64_t OnlineQuality::expected_distance() const {
    if (info_.interval.count() > 0)
        return info_.interval.count();
    return info_.source.empty() ? distances_.percentile(50) : 0;
}

TraceQuality OnlineQuality::quality(bool whole) const {
    TraceQuality quality;
    const bool told = whole && info_.complete && is_whole(info_, samples_).value_or(true);
    quality.samples = samples_;
    quality.ticks_known = info_.interval.count() > 0 || !info_.source.empty();
    quality.missed = told ? info_.missed : missed_;
    quality.failed = told ? info_.failed : failed_;
    quality.restarts = restarts_;
    quality.suspends = suspends_;
    if (samples_ == 0)
        return quality;
    quality.span = nanoseconds{last_.t_ns - first_ns_};
    quality.achieved_interval = spread_of(distances_);
    if (const std::int64_t expected = expected_distance(); expected > 0) {
        const Histogram::Tail gaps = distances_.above(2 * expected);
        quality.gaps = {gaps.count, nanoseconds{gaps.most}, nanoseconds{gaps.total}};
    }
    quality.lateness = spread_of(lateness_);
    quality.read_width = spread_of(widths_);
    quality.rx_refresh_period = refresh_.period(Direction::rx);
    quality.tx_refresh_period = refresh_.period(Direction::tx);
    return quality;
}

TraceQuality trace_quality(const Trace& trace) {
    OnlineQuality quality(trace.info);
    quality.add(trace.samples);
    return quality.quality(true);
}

} // namespace collectors
