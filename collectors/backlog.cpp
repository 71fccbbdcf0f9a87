#include "collectors/online_backlog.hpp"
#include "collectors/segments.hpp"

#include <algorithm>

namespace collectors {

namespace {

double larger(double left, double right) {
    return left > right ? left
                        : right; // by value: std::max keeps the compiler from working on several at once
}

} // namespace

OnlineBacklog::OnlineBacklog(std::span<const BitRate> rates)
    : best_start_(rates.size()), queue_(rates.size()), certain_(rates.size()), likely_(rates.size()) {
    for (const BitRate rate : rates)
        bytes_per_ns_.push_back(rate.bytes_per_second() / 1e9);
}

void OnlineBacklog::begin_segment(const Reading& first) {
    origin_ = last_ = first;
    std::fill(best_start_.begin(), best_start_.end(), 0.0);
    std::fill(queue_.begin(), queue_.end(), 0.0);
}

/// Certain: max { A_j - A_i - r (e_j - b_i) } in one pass, for the best i for each j is the one with the
/// largest r b_i - A_i. Likely: Lindley's recursion; the queue grows by what arrived, shrinks by what the
/// link sent, and never falls below zero.
void OnlineBacklog::add(std::span<const Reading> readings) {
    const std::size_t rates = bytes_per_ns_.size();
    const double* const rate = bytes_per_ns_.data();
    double* const best_start = best_start_.data();
    double* const queue = queue_.data();
    double* const certain = certain_.data();
    double* const likely = likely_.data();
    for (const Reading& reading : readings) {
        if (!last_ || starts_segment(reading, *last_))
            begin_segment(reading);
        const auto bytes = static_cast<double>(reading.bytes - origin_->bytes);
        const auto begin = static_cast<double>(reading.begin_ns - origin_->begin_ns);
        const auto end = static_cast<double>(reading.end_ns - origin_->begin_ns);
        const auto arrived = static_cast<double>(reading.bytes - last_->bytes);
        const double elapsed = midpoint_ns(reading) - midpoint_ns(*last_);
#pragma GCC ivdep
        for (std::size_t i = 0; i < rates; ++i) {
            best_start[i] = larger(best_start[i], rate[i] * begin - bytes);
            certain[i] = larger(certain[i], bytes - rate[i] * end + best_start[i]);
            queue[i] = larger(queue[i] + arrived - rate[i] * elapsed, 0.0);
            likely[i] = larger(likely[i], queue[i]);
        }
        last_ = reading;
    }
}

Bounds OnlineBacklog::backlog(std::size_t i) const {
    const double likely = std::max(likely_[i], certain_[i]); // they may differ by rounding only
    return {certain_[i], likely, likely};
}

Bounds max_backlog(std::span<const Reading> readings, BitRate rate) {
    OnlineBacklog backlog(std::span(&rate, 1));
    backlog.add(readings);
    return backlog.backlog(0);
}

} // namespace collectors
