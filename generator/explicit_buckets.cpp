#include "generator/bucketing.hpp"

#include <algorithm>

namespace generator {

IterationBuckets explicit_buckets(const Profile& profile) {
    const std::vector<ExplicitBucket>& given = profile.gradients.buckets;
    IterationBuckets iteration{{}, passes(profile).backward_end()};
    for (const ExplicitBucket& bucket : given)
        if (!bucket.needed_at) // the optimizer waits for it
            iteration.optimizer_start =
                std::max(iteration.optimizer_start, bucket.ready_after + (bucket.repeat - 1) * bucket.every);
    for (const ExplicitBucket& bucket : given)
        for (std::uint32_t copy = 0; copy < bucket.repeat; ++copy) {
            const nanoseconds later = copy * bucket.every;
            iteration.buckets.push_back(
                {{bucket.group, bucket.collective, bucket.bytes},
                 0,
                 bucket.ready_after + later,
                 bucket.needed_at ? *bucket.needed_at + later : iteration.optimizer_start});
        }
    return iteration;
}

} // namespace generator
