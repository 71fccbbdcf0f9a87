#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace generator {

/// One bucket as one rank lived it. Times are nanoseconds after the run's start on the rank's own clock.
struct BucketRecord {
    std::uint32_t iteration = 0;
    std::uint32_t bucket = 0;
    std::int64_t due_ns = 0;   ///< planned: start of the iteration + ready_after
    std::int64_t start_ns = 0; ///< when its first operation was started
    std::int64_t end_ns = 0;   ///< last byte handed to the kernel and last byte received
    std::int64_t late_ns = 0; ///< start - max(due, end of the bucket before it): our fault, not the network's
    std::uint64_t bytes = 0;  ///< size of the bucket
    std::uint64_t sent_bytes = 0;
    std::uint64_t received_bytes = 0;

    bool operator==(const BucketRecord&) const = default;
};

struct IterationRecord {
    std::uint32_t iteration = 0;
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0; ///< optimizer ended

    bool operator==(const IterationRecord&) const = default;
};

/// What happened on one rank. Only finished buckets and iterations are recorded.
struct Timeline {
    int rank = 0;
    std::int64_t start_monotonic_ns = 0; ///< CLOCK_MONOTONIC of the rank's host at time 0
    std::vector<BucketRecord> buckets;
    std::vector<IterationRecord> iterations;
    std::uint64_t sent_bytes = 0; ///< all payload bytes, also of an unfinished bucket
    std::uint64_t received_bytes = 0;

    bool operator==(const Timeline&) const = default;
};

/// timeline.csv of all ranks, one line per bucket: rank, iteration, bucket, iteration_start_ns, due_ns,
/// start_ns, end_ns, iteration_end_ns, late_ns, bucket_bytes, sent_bytes, received_bytes. The times of an
/// iteration that did not end are empty.
std::string timeline_csv(const std::vector<Timeline>& timelines);

/// Timelines travel to rank 0 as text: space-separated numbers. `parse_timeline` throws
/// std::invalid_argument.
std::string serialize(const Timeline& timeline);
Timeline parse_timeline(std::string_view text);

} // namespace generator
