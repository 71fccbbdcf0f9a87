#include "generator/bucket_queues.hpp"

#include <map>

namespace generator {

BucketQueues::BucketQueues(const IterationSchedule& schedule)
    : state_(schedule.buckets.size(), State::planned), before_(schedule.buckets.size()),
      behind_(schedule.buckets.size()) {
    std::map<QueueId, std::size_t> last;
    for (std::size_t bucket = 0; bucket < schedule.buckets.size(); ++bucket) {
        const QueueId queue{schedule.buckets[bucket].group, schedule.buckets[bucket].slot};
        const auto [known, is_first] = last.try_emplace(queue, bucket);
        if (is_first)
            continue;
        before_[bucket] = known->second;
        behind_[known->second] = bucket;
        known->second = bucket;
    }
}

std::optional<std::size_t> BucketQueues::launch(std::size_t bucket) {
    state_.at(bucket) = State::launched;
    return start_if_first(bucket);
}

std::optional<std::size_t> BucketQueues::complete(std::size_t bucket) {
    state_.at(bucket) = State::complete;
    const std::optional<std::size_t> next = behind_[bucket];
    return next && is_launched(*next) ? start_if_first(*next) : std::nullopt;
}

std::optional<std::size_t> BucketQueues::start_if_first(std::size_t bucket) {
    if (before_[bucket] && !is_complete(*before_[bucket]))
        return std::nullopt;
    state_[bucket] = State::running;
    return bucket;
}

std::vector<std::size_t> BucketQueues::running() const {
    std::vector<std::size_t> buckets;
    for (std::size_t bucket = 0; bucket < state_.size(); ++bucket)
        if (is_running(bucket))
            buckets.push_back(bucket);
    return buckets;
}

} // namespace generator
