#include "tools/timeline_numbers.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

namespace tools {
namespace {

double in_seconds(std::int64_t nanoseconds) {
    return 1e-9 * static_cast<double>(nanoseconds);
}

template <class Key>
std::vector<double> values_of(const std::map<Key, double>& by_key) {
    std::vector<double> values;
    for (const auto& [key, value] : by_key)
        values.push_back(value);
    return values;
}

template <class Key>
void keep_largest(std::map<Key, double>& by_key, const Key& key, double value) {
    const auto [place, is_new] = by_key.emplace(key, value);
    if (!is_new)
        place->second = std::max(place->second, value);
}

bool is_whole(const BucketSpan& span) {
    return span.iteration_start_ns && span.due_ns && span.start_ns && span.end_ns && span.iteration_end_ns;
}

/// One rank in one iteration: when buckets were in flight, and until when it still waited for gradients.
class Communication {
public:
    void add(const BucketSpan& span) {
        intervals_.emplace_back(*span.start_ns, *span.end_ns);
        last_due_ns_ = std::max(last_due_ns_, *span.due_ns);
    }

    /// Time in flight, and how much of it before the last bucket was ready.
    std::pair<double, double> total_and_hidden() {
        std::sort(intervals_.begin(), intervals_.end());
        double total = 0;
        double hidden = 0;
        std::int64_t covered = intervals_.front().first;
        for (const auto& [start, end] : intervals_) {
            const std::int64_t begin = std::max(start, covered);
            total += static_cast<double>(std::max<std::int64_t>(end - begin, 0));
            hidden += static_cast<double>(std::max<std::int64_t>(std::min(end, last_due_ns_) - begin, 0));
            covered = std::max(covered, end);
        }
        return {total, hidden};
    }

private:
    std::vector<std::pair<std::int64_t, std::int64_t>> intervals_;
    std::int64_t last_due_ns_ = 0;
};

std::int64_t median(std::vector<std::int64_t> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

using Place = std::pair<std::uint32_t, std::uint32_t>; // iteration and bucket

std::map<Place, std::int64_t> median_starts(std::span<const BucketSpan> spans) {
    std::map<Place, std::vector<std::int64_t>> starts;
    for (const BucketSpan& span : spans)
        starts[{span.iteration, span.bucket}].push_back(*span.start_ns);
    std::map<Place, std::int64_t> medians;
    for (auto& [place, values] : starts)
        medians[place] = median(std::move(values));
    return medians;
}

/// Ranks with their skew and goodput, and the share of communication that was hidden behind computing.
void add_ranks(TimelineNumbers& numbers, std::span<const BucketSpan> spans) {
    const std::map<Place, std::int64_t> medians = median_starts(spans);
    double total = 0; // ns, as below
    double hidden = 0;
    for (auto begin = spans.begin(); begin != spans.end();) {
        RankNumbers rank{.rank = begin->rank};
        std::map<std::uint32_t, Communication> iterations;
        std::uint64_t sent_bytes = 0;
        auto span = begin;
        for (; span != spans.end() && span->rank == rank.rank; ++span) {
            iterations[span->iteration].add(*span);
            sent_bytes += span->sent_bytes;
            rank.start_skew_seconds.push_back(
                in_seconds(*span->start_ns - medians.at({span->iteration, span->bucket})));
        }
        double in_flight = 0;
        for (auto& [iteration, communication] : iterations) {
            const auto [all, before] = communication.total_and_hidden();
            in_flight += all;
            hidden += before;
        }
        total += in_flight;
        if (in_flight > 0)
            rank.goodput_bytes_per_second = static_cast<double>(sent_bytes) / (1e-9 * in_flight);
        numbers.ranks.push_back(std::move(rank));
        begin = span;
    }
    if (total > 0)
        numbers.overlap_fraction = hidden / total;
}

} // namespace

TimelineNumbers timeline_numbers(std::span<const BucketSpan> spans, std::uint32_t first, std::uint32_t last) {
    std::vector<BucketSpan> measured;
    std::copy_if(spans.begin(), spans.end(), std::back_inserter(measured), [&](const BucketSpan& span) {
        return span.iteration >= first && span.iteration < last && is_whole(span);
    });
    TimelineNumbers numbers;
    std::map<std::uint32_t, double> iterations;
    std::map<std::uint32_t, double> lateness;
    std::map<std::uint32_t, std::map<std::uint32_t, double>> buckets; // by bucket, then iteration
    std::map<std::uint32_t, std::uint64_t> bytes;
    for (const BucketSpan& span : measured) {
        keep_largest(iterations, span.iteration,
                     in_seconds(*span.iteration_end_ns - *span.iteration_start_ns));
        keep_largest(lateness, span.iteration, in_seconds(span.late_ns));
        keep_largest(buckets[span.bucket], span.iteration, in_seconds(*span.end_ns - *span.start_ns));
        bytes[span.bucket] = std::max(bytes[span.bucket], span.bucket_bytes);
        numbers.lateness_seconds.push_back(in_seconds(span.late_ns));
    }
    numbers.iteration_seconds = values_of(iterations);
    numbers.worst_lateness_seconds = values_of(lateness);
    for (const auto& [bucket, seconds] : buckets)
        numbers.buckets.push_back({bucket, bytes[bucket], values_of(seconds)});
    add_ranks(numbers, measured);
    return numbers;
}

std::optional<double> fairness_index(std::span<const double> values) {
    const double sum = std::accumulate(values.begin(), values.end(), 0.0);
    const double squares = std::inner_product(values.begin(), values.end(), values.begin(), 0.0);
    if (squares == 0)
        return std::nullopt;
    return sum * sum / (static_cast<double>(values.size()) * squares);
}

std::optional<double> coefficient_of_variation(std::span<const double> values) {
    if (values.size() < 2)
        return std::nullopt;
    const auto count = static_cast<double>(values.size());
    const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
    double squares = 0;
    for (const double value : values)
        squares += (value - mean) * (value - mean);
    return mean == 0 ? std::nullopt : std::optional(std::sqrt(squares / (count - 1)) / mean);
}

} // namespace tools
