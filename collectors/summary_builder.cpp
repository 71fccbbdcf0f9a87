#include "collectors/summary_builder.hpp"

#include "collectors/summary_warnings.hpp"

#include <algorithm>

namespace collectors {

namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

/// Fine enough for the shortest period that the samples show, coarse enough for each cell to hold samples.
nanoseconds series_cell(nanoseconds interval) {
    return std::max<nanoseconds>(100us, 4 * interval);
}

/// Reads before `to` that failed because the counters were lost: no sample follows them to tell.
std::uint64_t lost_reads(const TraceInfo& info, nanoseconds to) {
    const nanoseconds end = std::min(to, nanoseconds(info.clocks.end_monotonic_ns - info.start_monotonic_ns));
    if (!info.lost_from || info.interval.count() <= 0 || end <= *info.lost_from)
        return 0;
    return static_cast<std::uint64_t>((end - *info.lost_from) / info.interval) + 1;
}

} // namespace

SummaryBuilder::SummaryBuilder(const TraceInfo& info, Direction direction, const SummarySettings& settings)
    : info_(info), direction_(direction), settings_(settings), refresh_(info), quality_(info),
      curve_(settings.windows), dispersion_(settings.windows, info.interval),
      series_(series_cell(info.interval)) {}

/// The readings of the samples between `from` and `to`.
std::vector<Reading> SummaryBuilder::inside(std::span<const Sample> samples, bool first_pass) {
    samples_.clear();
    std::vector<Reading> readings;
    readings.reserve(samples.size());
    for (const Sample& sample : samples) {
        if (sample.t_ns < settings_.from.count() ||
            sample.t_ns + sample.rx_width_ns + sample.tx_width_ns > settings_.to.count())
            continue;
        readings.push_back(reading_of(sample, direction_));
        if (first_pass)
            samples_.push_back(sample);
    }
    return readings;
}

void SummaryBuilder::add(std::span<const Sample> samples) {
    held_ += samples.size();
    refresh_.add(samples);
    const std::vector<Reading> readings = inside(samples, true);
    whole_ = whole_ && samples_.size() == samples.size();
    quality_.add(samples_);
    curve_.add(readings);
    dispersion_.add(readings);
    series_.add(readings);
}

void SummaryBuilder::add_again(std::span<const Sample> samples) {
    if (!of_mean_) {
        const double mean = 8 * curve_.curve().mean_bytes_per_second;
        const std::vector<BitRate> rates = settings_.rates(mean);
        of_mean_.emplace(OfMean{
            BurstStatistics(2 * mean,
                            std::max<nanoseconds>(2ms, 4 * quality_.quality(whole_).achieved_interval.p50),
                            2 * info_.interval),
            rates, OnlineBacklog(rates)});
    }
    const std::vector<Reading> readings = inside(samples, false);
    of_mean_->bursts.add(readings);
    of_mean_->backlog.add(readings);
}

InterfaceSummary SummaryBuilder::summary() const {
    InterfaceSummary summary;
    summary.host = info_.host;
    summary.interface = info_.interface;
    summary.direction = direction_;
    summary.info = info_;
    summary.held_samples = held_;
    summary.whole = is_whole(info_, held_);
    summary.info.complete = info_.complete && summary.whole.value_or(true);
    // After the counters were lost nothing is sampled that a tick could miss.
    const bool told_by_sidecar = whole_ && !info_.lost_from;
    summary.quality = quality_.quality(told_by_sidecar);
    if (!told_by_sidecar)
        summary.quality.failed += lost_reads(info_, settings_.to);
    summary.refresh_period = refresh_.period(direction_);
    summary.curve = curve_.curve(summary.refresh_period);
    summary.nic_bytes = summary.curve.total_bytes;
    summary.mean_bits_per_second = 8 * summary.curve.mean_bytes_per_second;
    summary.dispersion = dispersion_.points();
    summary.period = find_period(series_.bytes(), series_.cell());
    // A counter that moves only now and then has a period of its own.
    if (summary.refresh_period && summary.period && summary.period->length < 5 * *summary.refresh_period)
        summary.period.reset();
    if (of_mean_) {
        summary.bursts = of_mean_->bursts.summary(summary.curve);
        for (std::size_t i = 0; i < of_mean_->rates.size(); ++i)
            summary.backlog.push_back({of_mean_->rates[i], of_mean_->backlog.backlog(i)});
    }
    summary.warnings = warnings_about(summary);
    return summary;
}

} // namespace collectors
