#include "collectors/recording.hpp"

#include "collectors/burstiness.hpp"
#include "collectors/monotonic_clock.hpp"
#include "collectors/units.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <limits>
#include <utility>

#include <fmt/format.h>

namespace collectors {

namespace {

bool fits_width(std::int64_t width_ns) {
    return width_ns >= 0 && width_ns <= std::numeric_limits<std::uint32_t>::max();
}

SamplerFacts with_quality(SamplerFacts facts, const TraceQuality& quality) {
    facts.achieved_interval = quality.achieved_interval;
    facts.read_width = quality.read_width;
    facts.gaps = quality.gaps.count;
    facts.longest_gap = quality.gaps.longest;
    facts.refresh_period = std::max(quality.rx_refresh_period, quality.tx_refresh_period);
    facts.resolved_from = resolved_from(facts.achieved_interval.p50, facts.refresh_period);
    return facts;
}

} // namespace

std::string SourceReport::loss() const {
    if (!lost_from)
        return {};
    const std::string after = format_duration(*lost_from);
    return last_error == ENODEV || last_error == ENOENT
               ? "interface vanished after " + after
               : fmt::format("counters unreadable after {}: {}", after, std::strerror(last_error));
}

Recording::Recording(SamplerSource source, std::size_t ring_capacity, const TraceFileOptions& file)
    : source_(std::move(source.source)), info_(std::move(source.info)),
      writer_(std::move(source.trace_path), file), observer_(std::move(source.observer)),
      ring_(ring_capacity),
      left_(file.rotate ? std::numeric_limits<std::uint64_t>::max()
                        : file.max_samples.value_or(std::numeric_limits<std::uint64_t>::max())) {}

void Recording::sample(const TickGrid& grid) noexcept {
    if (left_ == 0)
        return;
    const CounterSource::Counters counters = source_->read();
    const std::int64_t begin = counters.error == 0 ? counters.begin_ns : clock_ns();
    const std::int64_t tick = (begin - grid.start_ns) / grid.interval_ns;
    if (tick > next_tick_) {
        report_.missed += static_cast<std::uint64_t>(tick - next_tick_);
        pending_flags_ |= SampleFlag::missed_ticks;
    }
    next_tick_ = std::max(next_tick_, tick + 1); // the last sample comes between two ticks
    if (counters.error == 0)
        report_.lost_from.reset();
    else if (!report_.lost_from)
        report_.lost_from = std::chrono::nanoseconds(begin - grid.start_ns);
    keep(counters, grid.start_ns);
}

void Recording::keep(const CounterSource::Counters& counters, std::int64_t start_ns) noexcept {
    const std::int64_t rx_width = counters.middle_ns - counters.begin_ns;
    const std::int64_t tx_width = counters.end_ns - counters.middle_ns;
    report_.last_error = counters.error;
    if (counters.error != 0 || !fits_width(rx_width) || !fits_width(tx_width)) {
        ++report_.failed;
        pending_flags_ |= SampleFlag::failed_reads;
        return;
    }
    Sample sample{counters.begin_ns - start_ns,
                  static_cast<std::uint32_t>(rx_width),
                  static_cast<std::uint32_t>(tx_width),
                  counters.rx_bytes,
                  counters.tx_bytes,
                  std::exchange(pending_flags_, 0)};
    const bool fell =
        previous_ && (sample.rx_bytes < previous_->rx_bytes || sample.tx_bytes < previous_->tx_bytes);
    if (fell || counters.reopened)
        sample.flags |= SampleFlag::new_segment;
    if (ring_.push(sample)) {
        --left_;
    } else {
        // The next sample that fits tells what the dropped one had to tell.
        ++report_.failed;
        pending_flags_ = sample.flags | SampleFlag::failed_reads;
    }
    previous_ = sample;
}

void Recording::begin(const TickGrid& grid, std::int64_t start_realtime_ns) {
    info_.source = source_->name();
    info_.interval = std::chrono::nanoseconds(grid.interval_ns);
    info_.start_monotonic_ns = grid.start_ns;
    info_.start_realtime_ns = start_realtime_ns;
    info_.version = GRADBURST_VERSION;
    info_.build_type = GRADBURST_BUILD_TYPE;
    interface_name_ = source_->interface_name();
    quality_.emplace(info_);
    try {
        writer_.begin(info_);
    } catch (const std::exception& error) {
        report_.error = error.what();
    }
}

void Recording::drain(std::span<Sample> block) {
    if (broken())
        return;
    try {
        while (const std::size_t count = ring_.pop(block)) {
            writer_.append(block.first(count));
            const auto kept = static_cast<std::size_t>(writer_.written() - report_.samples);
            report_.samples = writer_.written();
            quality_->add(block.first(kept));
            if (observer_)
                observer_(block.first(kept));
        }
        note_name();
    } catch (const std::exception& error) {
        report_.error = error.what();
    }
}

/// An interface that is gone has no name, and may come back; one that moved to another namespace may be
/// counted on.
void Recording::note_name() {
    std::string now = source_->interface_name();
    if (now == interface_name_)
        return;
    interface_name_ = now;
    writer_.rename({clock_ns() - info_.start_monotonic_ns, std::move(now)});
}

void Recording::finish(const std::string& reason, const SamplerFacts& sampler, const ClockFacts& clocks) {
    if (broken()) {
        try {
            writer_.give_up(report_.error);
        } catch (const std::exception&) { // the first reason is the one that is told
        }
        return;
    }
    try {
        writer_.finish({.reason = report_.lost_from ? reason + "; " + report_.loss() : reason,
                        .missed = report_.missed,
                        .failed = report_.failed,
                        .lost_from = report_.lost_from,
                        .sampler = with_quality(sampler, quality_->quality(false)),
                        .clocks = clocks});
    } catch (const std::exception& error) {
        report_.error = error.what();
    }
}

} // namespace collectors
