#include "collectors/burst_statistics.hpp"

#include <cmath>

namespace collectors {

namespace {

using std::chrono::nanoseconds;

Spread spread_of(const Histogram& values) {
    return {nanoseconds{values.at_rank(values.count() / 2)}, nanoseconds{values.percentile(99)},
            nanoseconds{values.most()}};
}

} // namespace

BurstStatistics::BurstStatistics(double threshold_bits_per_second, nanoseconds merge_gap,
                                 nanoseconds longest_distance)
    : threshold_bits_per_second_(threshold_bits_per_second), merge_gap_(merge_gap),
      finder_(BitRate{static_cast<std::uint64_t>(std::llround(threshold_bits_per_second))}, merge_gap),
      longest_distance_(longest_distance) {}

void BurstStatistics::add(std::span<const Reading> readings) {
    for (const Reading& reading : readings) { // a burst is told once what follows it was seen
        note_gap(reading);
        finder_.add(std::span(&reading, 1), [this](const Burst& burst) { count(burst); });
    }
}

void BurstStatistics::note_gap(const Reading& reading) {
    if (previous_ && longest_distance_.count() > 0 &&
        reading.begin_ns - previous_->begin_ns > longest_distance_.count()) {
        last_gap_ = nanoseconds(previous_->end_ns);
        first_gap_ = first_gap_.value_or(*last_gap_);
    }
    previous_ = reading;
}

void BurstStatistics::count(const Burst& burst) {
    lengths_.add(burst.length().count());
    volumes_.add(std::llround(burst.bytes));
    if (last_ && !(first_gap_ && *first_gap_ < burst.begin))
        pauses_.add((burst.begin - last_->end).count());
    last_ = burst;
    first_gap_ = last_gap_ && *last_gap_ >= burst.end ? last_gap_ : std::nullopt;
}

BurstSummary BurstStatistics::summary(const BurstinessCurve& curve) const {
    BurstStatistics all = *this;
    all.finder_.finish([&all](const Burst& burst) { all.count(burst); }); // one may end with the trace
    BurstSummary summary;
    summary.threshold_bits_per_second = threshold_bits_per_second_;
    summary.merge_gap = merge_gap_;
    summary.count = all.lengths_.count();
    summary.length = spread_of(all.lengths_);
    summary.pause = spread_of(all.pauses_);
    summary.pauses = all.pauses_.count();
    summary.median_bytes = static_cast<double>(all.volumes_.at_rank(all.volumes_.count() / 2));
    summary.largest_bytes = static_cast<double>(all.volumes_.most());
    if (curve.span.count() > 0)
        summary.duty_cycle =
            static_cast<double>(all.lengths_.total()) / static_cast<double>(curve.span.count());
    if (curve.total_bytes > 0)
        summary.share_of_bytes =
            static_cast<double>(all.volumes_.total()) / static_cast<double>(curve.total_bytes);
    return summary;
}

} // namespace collectors
