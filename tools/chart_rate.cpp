#include "tools/chart_rate.hpp"

#include "collectors/segments.hpp"

#include <algorithm>
#include <utility>

namespace tools {

namespace {

constexpr std::int64_t shortest_step_ns = 1'000'000;
constexpr std::int64_t most_steps = 1'000'000; // between two readings, where no distance is a gap

std::int64_t floor_divide(std::int64_t value, std::int64_t by) {
    return value / by - (value % by < 0 ? 1 : 0);
}

std::int64_t middle_ns(const collectors::Reading& reading) {
    return reading.begin_ns + (reading.end_ns - reading.begin_ns) / 2;
}

} // namespace

RateGrid::RateGrid(std::int64_t step_ns, std::int64_t offset_ns, std::int64_t longest_distance_ns,
                   Known known)
    : step_ns_(step_ns), offset_ns_(offset_ns),
      longest_distance_ns_(longest_distance_ns > 0 ? longest_distance_ns : most_steps * step_ns),
      known_(std::move(known)) {}

void RateGrid::add(const collectors::Reading& reading) {
    if (previous_ && !collectors::starts_segment(reading, *previous_)) {
        const std::int64_t from = middle_ns(*previous_) + offset_ns_;
        const std::int64_t to = middle_ns(reading) + offset_ns_;
        const bool is_gap = to - from > longest_distance_ns_;
        if (to > from && !is_gap)
            cover(from, to,
                  static_cast<double>(reading.bytes - previous_->bytes) / static_cast<double>(to - from));
    }
    previous_ = reading;
}

void RateGrid::cover(std::int64_t from_ns, std::int64_t to_ns, double bytes_per_ns) {
    while (from_ns < to_ns) {
        const std::int64_t bin = floor_divide(from_ns, step_ns_);
        if (bin != bin_) { // the one before was not covered to its end
            bin_ = bin;
            covered_ns_ = 0;
            bytes_ = 0;
        }
        const std::int64_t until = std::min(to_ns, (bin + 1) * step_ns_);
        covered_ns_ += until - from_ns;
        bytes_ += static_cast<double>(until - from_ns) * bytes_per_ns;
        if (covered_ns_ == step_ns_)
            known_(bin, bytes_);
        from_ns = until;
    }
}

std::int64_t chart_step_ns(const collectors::TraceInfo& info) {
    return std::max<std::int64_t>(1, (info.interval.count() + shortest_step_ns - 1) / shortest_step_ns) *
           shortest_step_ns;
}

std::int64_t chart_longest_distance_ns(const collectors::TraceInfo& info) {
    // Reads vary a little in length: a distance of exactly two intervals is no gap. Neither is one of a few
    // steps: what passed in it is known, and nearly when.
    constexpr std::int64_t few = 4;
    return std::max(info.interval.count() * 2 + info.interval.count() / 8, few * chart_step_ns(info));
}

} // namespace tools
