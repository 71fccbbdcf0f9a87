#include "generator/plan_book.hpp"

#include "generator/saturating.hpp"

namespace generator {
namespace {

std::uint64_t sent_bytes(const std::vector<WorkloadBucket>& buckets, const Workload& workload, int rank,
                         int world_size) {
    std::uint64_t bytes = 0;
    for (const WorkloadBucket& bucket : buckets)
        bytes = saturating_sum(bytes, bucket_plan(workload, bucket, rank, world_size).sent_bytes());
    return bytes;
}

} // namespace

PlanBook::PlanBook(const Profile& profile, const Workload& workload, int rank, int world_size) {
    for (const auto* buckets : {&workload.first_iteration, &workload.later_iterations})
        for (const WorkloadBucket& bucket : *buckets)
            plans_.try_emplace(bucket, bucket_plan(workload, bucket, rank, world_size),
                               profile.collective.segment_bytes);
}

std::uint64_t planned_bytes(const Workload& workload, int rank, int world_size, std::uint32_t iterations) {
    if (iterations == 0)
        return 0;
    return saturating_sum(sent_bytes(workload.first_iteration, workload, rank, world_size),
                          saturating_product(iterations - 1, sent_bytes(workload.later_iterations, workload,
                                                                        rank, world_size)));
}

} // namespace generator
