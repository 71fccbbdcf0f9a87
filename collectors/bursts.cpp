#include "collectors/bursts.hpp"

#include "collectors/segments.hpp"

#include <cmath>

namespace collectors {

namespace {

std::chrono::nanoseconds rounded(double instant_ns) {
    return std::chrono::nanoseconds{std::llround(instant_ns)};
}

} // namespace

BurstFinder::BurstFinder(BitRate threshold, std::chrono::nanoseconds merge_gap)
    : bytes_per_ns_(threshold.bytes_per_second() / 1e9),
      merge_gap_ns_(static_cast<double>(merge_gap.count())) {}

void BurstFinder::add(std::span<const Reading> readings, const Found& found) {
    for (const Reading& reading : readings) {
        if (!previous_ || starts_segment(reading, *previous_)) {
            finish(found);
            previous_ = reading;
            continue;
        }
        const Reading before = *previous_;
        previous_ = reading;
        const double elapsed = midpoint_ns(reading) - midpoint_ns(before);
        const auto arrived = static_cast<double>(reading.bytes - before.bytes);
        if (arrived <= bytes_per_ns_ * elapsed)
            continue;
        const bool adjacent = first_ && last_ == before;
        // What passed between two runs that are merged belongs to the burst.
        const bool goes_on = adjacent || (first_ && midpoint_ns(before) - midpoint_ns(last_) < merge_gap_ns_);
        if (!goes_on) {
            finish(found);
            first_ = before;
        }
        last_ = reading;
    }
}

void BurstFinder::finish(const Found& found) {
    if (first_)
        found({rounded(midpoint_ns(*first_)), rounded(midpoint_ns(last_)),
               static_cast<double>(last_.bytes - first_->bytes)});
    first_.reset();
}

std::vector<Burst> find_bursts(std::span<const Reading> readings, BitRate threshold,
                               std::chrono::nanoseconds merge_gap) {
    std::vector<Burst> bursts;
    const auto keep = [&](const Burst& burst) { bursts.push_back(burst); };
    BurstFinder finder(threshold, merge_gap);
    finder.add(readings, keep);
    finder.finish(keep);
    return bursts;
}

} // namespace collectors
