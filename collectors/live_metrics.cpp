#include "collectors/live_metrics.hpp"

#include <vector>

namespace collectors {

namespace {

constexpr std::int64_t mark_distance_ns = 100'000'000;
constexpr std::int64_t rate_span_ns = 1'000'000'000;
constexpr std::int64_t window_ns = std::chrono::nanoseconds(LiveMetrics::window).count();

} // namespace

LiveMetrics::Flow::Flow(Direction of_direction)
    : direction(of_direction), all({}), current(standard_windows()) {}

LiveMetrics::LiveMetrics(const TraceInfo& info)
    : info_(info), quality_(info), flows_{Flow(Direction::tx), Flow(Direction::rx)} {}

void LiveMetrics::add(std::span<const Sample> samples) {
    const std::lock_guard lock(mutex_);
    quality_.add(samples);
    while (!samples.empty()) {
        // Up to the end of the window, or all.
        std::size_t count = 0;
        while (count < samples.size() && samples[count].t_ns < window_begin_ns_ + window_ns)
            ++count;
        for (Flow& flow : flows_) {
            std::vector<Reading> readings;
            for (const Sample& sample : samples.first(count))
                readings.push_back(reading_of(sample, flow.direction));
            flow.all.add(readings);
            flow.current.add(readings);
        }
        if (count > 0)
            keep_mark(samples[count - 1].t_ns);
        samples = samples.subspan(count);
        if (!samples.empty())
            close_window(samples.front().t_ns);
    }
}

void LiveMetrics::close_window(std::int64_t next_ns) {
    const TraceQuality quality = quality_.quality(false);
    for (Flow& flow : flows_) {
        flow.last = flow.current.curve(flow.direction == Direction::rx ? quality.rx_refresh_period
                                                                       : quality.tx_refresh_period);
        flow.current = OnlineCurve(standard_windows());
    }
    window_begin_ns_ = next_ns / window_ns * window_ns; // a pause may have swallowed whole windows
}

void LiveMetrics::keep_mark(std::int64_t t_ns) {
    if (!marks_.empty() && t_ns - marks_.back().t_ns < mark_distance_ns)
        return;
    Mark mark{t_ns, {}};
    for (std::size_t i = 0; i < flows_.size(); ++i)
        mark.bytes[i] = flows_[i].all.curve().total_bytes;
    marks_.push_back(mark);
    while (marks_.size() > 2 && marks_.back().t_ns - marks_[1].t_ns >= rate_span_ns)
        marks_.pop_front();
}

LiveSnapshot LiveMetrics::snapshot() const {
    const std::lock_guard lock(mutex_);
    LiveSnapshot snapshot{info_.host, info_.interface, quality_.quality(false), {}};
    for (std::size_t i = 0; i < flows_.size(); ++i) {
        LiveDirection& live = snapshot.directions[i];
        live.direction = flows_[i].direction;
        live.bytes = flows_[i].all.curve().total_bytes;
        live.curve = flows_[i].last;
        if (marks_.size() > 1)
            live.bytes_per_second = 1e9 *
                                    static_cast<double>(marks_.back().bytes[i] - marks_.front().bytes[i]) /
                                    static_cast<double>(marks_.back().t_ns - marks_.front().t_ns);
    }
    return snapshot;
}

} // namespace collectors
