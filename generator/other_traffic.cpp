#include "generator/other_traffic.hpp"

#include "generator/crossing.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace generator {
namespace {

/// What `rank` moves across the interface of `traffic` in each bucket of an iteration.
std::vector<Crossing> crossing_of_buckets(const OtherTraffic& traffic, int rank,
                                          const std::vector<WorkloadBucket>& buckets,
                                          collectors::Direction direction, bool loopback) {
    std::vector<Crossing> crossings;
    for (const WorkloadBucket& bucket : buckets)
        crossings.push_back(bucket_crossing(*traffic.workload, bucket, rank, traffic.ranks,
                                            traffic.world_size, direction, loopback));
    return crossings;
}

/// A bucket that was under way when the job ended is in no record: any of its bytes may have crossed.
std::uint64_t unrecorded_bytes(const Timeline& timeline, collectors::Direction direction) {
    const bool sends = direction == collectors::Direction::tx;
    std::uint64_t recorded = 0;
    for (const BucketRecord& bucket : timeline.buckets)
        recorded += sends ? bucket.sent_bytes : bucket.received_bytes;
    const std::uint64_t all = sends ? timeline.sent_bytes : timeline.received_bytes;
    return all - std::min(all, recorded);
}

} // namespace

OtherPayload operator+(OtherPayload left, const OtherPayload& right) {
    left.least_bytes += right.least_bytes;
    left.messages += right.messages;
    left.most_bytes = left.most_bytes && right.most_bytes
                          ? std::optional(*left.most_bytes + *right.most_bytes)
                          : std::nullopt;
    return left;
}

OtherPayload other_payload(const std::vector<OtherTraffic>& others, collectors::Direction direction,
                           std::int64_t from_ns, std::int64_t to_ns, bool loopback) {
    OtherPayload payload;
    std::uint64_t most = 0;
    bool all_told = true;
    for (const OtherTraffic& traffic : others)
        for (std::size_t i = 0; i < traffic.ranks.size(); ++i) {
            const Timeline* const timeline = traffic.timelines[i];
            if (timeline == nullptr) {
                all_told = false;
                continue;
            }
            const std::vector<Crossing> first = crossing_of_buckets(
                traffic, traffic.ranks[i], traffic.workload->first_iteration, direction, loopback);
            const std::vector<Crossing> later = crossing_of_buckets(
                traffic, traffic.ranks[i], traffic.workload->later_iterations, direction, loopback);
            for (const BucketRecord& record : timeline->buckets) {
                const std::int64_t begin = timeline->start_monotonic_ns + record.start_ns;
                const std::int64_t end = timeline->start_monotonic_ns + record.end_ns;
                const Crossing crossing = (record.iteration == 0 ? first : later).at(record.bucket);
                if (end <= from_ns || begin >= to_ns)
                    continue;
                most += crossing.bytes;
                payload.messages += crossing.messages;
                payload.least_bytes += begin >= from_ns && end <= to_ns ? crossing.bytes : 0;
            }
            most += unrecorded_bytes(*timeline, direction);
        }
    payload.most_bytes = all_told ? std::optional(most) : std::nullopt;
    return payload;
}

} // namespace generator
