#include "collectors/online_backlog.hpp"
#include "collectors/segments.hpp"

#include <algorithm>
#include <limits>

namespace collectors {

namespace {

constexpr double never = -std::numeric_limits<double>::infinity();

double larger(double left, double right) {
    return left > right ? left
                        : right; // by value: std::max keeps the compiler from working on several at once
}

} // namespace

OnlineBacklog::OnlineBacklog(std::span<const BitRate> rates)
    : best_start_(rates.size()), queue_(rates.size()), certain_(rates.size()), likely_(rates.size()),
      early_start_(rates.size()), possible_(rates.size()) {
    for (const BitRate rate : rates)
        bytes_per_ns_.push_back(rate.bytes_per_second() / 1e9);
}

void OnlineBacklog::begin_segment(const Reading& first) {
    origin_ = last_ = first;
    past_ = {.last_end = never, .second_last_end = never};
    std::fill(early_start_.begin(), early_start_.end(), never);
    std::fill(best_start_.begin(), best_start_.end(), 0.0);
    std::fill(queue_.begin(), queue_.end(), 0.0);
}

/// Certain: max { A_j - A_i - r (e_j - b_i) } in one pass, for the best i for each j is the one with the
/// largest r b_i - A_i. Likely: Lindley's recursion; the queue grows by what arrived, shrinks by what the
/// link sent, and never falls below zero. Possible: a queue that begins to grow between readings i and i+1
/// and is longest between k-1 and k holds at most A_k - A_i, less what the link sent from e_(i+1) to b_(k-1).
void OnlineBacklog::add(std::span<const Reading> readings) {
    const std::size_t rates = bytes_per_ns_.size();
    const double* const rate = bytes_per_ns_.data();
    double* const best_start = best_start_.data();
    double* const queue = queue_.data();
    double* const certain = certain_.data();
    double* const likely = likely_.data();
    double* const early_start = early_start_.data();
    double* const possible = possible_.data();
    for (const Reading& reading : readings) {
        if (!last_ || starts_segment(reading, *last_)) {
            begin_segment(reading);
            continue;
        }
        const auto bytes = static_cast<double>(reading.bytes - origin_->bytes);
        const auto begin = static_cast<double>(reading.begin_ns - origin_->begin_ns);
        const auto end = static_cast<double>(reading.end_ns - origin_->begin_ns);
        const double arrived = bytes - past_.last_bytes;
        const double elapsed = midpoint_ns(reading) - midpoint_ns(*last_);
        const Past past = past_;
        neighbours_ = larger(neighbours_, bytes - past.second_last_bytes);
#pragma GCC ivdep
        for (std::size_t i = 0; i < rates; ++i) {
            best_start[i] = larger(best_start[i], rate[i] * begin - bytes);
            certain[i] = larger(certain[i], bytes - rate[i] * end + best_start[i]);
            queue[i] = larger(queue[i] + arrived - rate[i] * elapsed, 0.0);
            likely[i] = larger(likely[i], queue[i]);
            early_start[i] = larger(early_start[i], rate[i] * past.second_last_end - past.third_last_bytes);
            possible[i] = larger(possible[i], bytes - rate[i] * past.last_begin + early_start[i]);
        }
        past_ = {begin, end, past.last_end, bytes, past.last_bytes, past.second_last_bytes};
        last_ = reading;
    }
}

Bounds OnlineBacklog::backlog(std::size_t i) const {
    const double likely = std::max(likely_[i], certain_[i]); // they may differ by rounding only
    return {certain_[i], likely, std::max({likely, possible_[i], neighbours_})};
}

Bounds max_backlog(std::span<const Reading> readings, BitRate rate) {
    OnlineBacklog backlog(std::span(&rate, 1));
    backlog.add(readings);
    return backlog.backlog(0);
}

} // namespace collectors
