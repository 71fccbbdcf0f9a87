#include "generator/workload.hpp"

#include "generator/bucketing.hpp"

#include <algorithm>
#include <cmath>

namespace generator {
namespace {

/// DDP's rank 0 broadcasts batch-norm running statistics (float32) and batch counters (int64) before the
/// first forward pass of an iteration.
std::vector<WorkloadBucket> buffer_broadcasts(const Model& model) {
    std::vector<WorkloadBucket> buckets;
    for (const std::uint64_t bytes : {model.buffer_fp32_elements * 4, model.buffer_int64_elements * 8})
        if (bytes > 0)
            buckets.push_back({{.collective = Collective::broadcast, .bytes = bytes}});
    return buckets;
}

IterationBuckets model_buckets(const Profile& profile, Bucketing bucketing) {
    switch (profile.gradients.sharding) {
    case Sharding::none:
        break;
    case Sharding::zero1:
        return with_sharded_optimizer(gradient_buckets(profile, bucketing), profile);
    case Sharding::fsdp:
        return unit_buckets(profile);
    }
    return bucketing == Bucketing::explicit_list ? explicit_buckets(profile)
                                                 : gradient_buckets(profile, bucketing);
}

/// Buffers come first.
IterationBuckets iteration_buckets(const Profile& profile, Bucketing bucketing) {
    IterationBuckets iteration = model_buckets(profile, bucketing);
    if (!profile.gradients.broadcast_buffers)
        return iteration;
    std::vector<WorkloadBucket> all = buffer_broadcasts(profile.model);
    for (WorkloadBucket& bucket : all)
        bucket.needed_at = iteration.optimizer_start;
    all.insert(all.end(), iteration.buckets.begin(), iteration.buckets.end());
    iteration.buckets = std::move(all);
    return iteration;
}

nanoseconds end_of(const IterationBuckets& iteration, nanoseconds optimizer) {
    nanoseconds end = iteration.optimizer_start + optimizer;
    for (const WorkloadBucket& bucket : iteration.buckets)
        end = std::max({end, bucket.ready_after, bucket.needed_at});
    return end;
}

} // namespace

CollectiveCall Workload::call(Collective what, std::uint64_t bytes, const std::vector<int>& members) const {
    CollectiveCall call;
    call.collective = what;
    call.bytes = bytes;
    call.element_bytes = element_bytes;
    call.algorithm = collective.algorithm;
    call.service = collective.service;
    call.channels = collective.channels;
    call.sockets = collective.sockets_per_channel;
    const auto server = std::find(members.begin(), members.end(), collective.server_rank);
    call.server = server == members.end() ? 0 : static_cast<int>(server - members.begin());
    if (!hosts.empty())
        for (const int member : members)
            call.hosts.push_back(hosts.at(static_cast<std::size_t>(member)));
    return call;
}

std::vector<std::uint32_t> queue_slots(const Workload& workload, const std::vector<WorkloadBucket>& buckets) {
    std::vector<std::uint32_t> slots;
    std::vector<std::uint32_t> of_group(workload.groups.size(), 0); // its buckets so far
    for (const WorkloadBucket& bucket : buckets)
        slots.push_back(of_group.at(bucket.group)++ % workload.collective.in_flight);
    return slots;
}

RankPlan bucket_plan(const Workload& workload, const BucketKind& bucket, int rank, int world_size) {
    const std::vector<int> members = workload.groups.at(bucket.group).members_with(rank, world_size);
    const auto self = std::find(members.begin(), members.end(), rank);
    if (self == members.end())
        return {};
    return for_members(rank_plan(workload.call(bucket.collective, bucket.bytes, members),
                                 static_cast<int>(self - members.begin()), static_cast<int>(members.size())),
                       members);
}

Workload make_workload(const Profile& profile, double byte_scale) {
    Workload workload;
    workload.element_bytes = element_bytes(profile.element_type);
    workload.collective = profile.collective;
    workload.groups.insert(workload.groups.end(), profile.groups.begin(), profile.groups.end());
    const GradientSettings& gradients = profile.gradients;
    IterationBuckets later = iteration_buckets(profile, gradients.bucketing);
    const bool whole_model_first = gradients.bucketing == Bucketing::ddp && gradients.first_iteration_single;
    IterationBuckets first = whole_model_first ? iteration_buckets(profile, Bucketing::single) : later;
    const nanoseconds optimizer = profile.compute.optimizer;
    workload.compute = std::max(end_of(first, optimizer), end_of(later, optimizer));
    for (IterationBuckets* iteration : {&first, &later})
        for (WorkloadBucket& bucket : iteration->buckets)
            bucket.bytes = scale_bytes(bucket.bytes, byte_scale, workload.element_bytes);
    workload.first_iteration = std::move(first.buckets);
    workload.later_iterations = std::move(later.buckets);
    return workload;
}

std::uint64_t scale_bytes(std::uint64_t bytes, double scale, std::uint64_t element_bytes) {
    if (bytes == 0 || scale == 1)
        return bytes;
    const double elements =
        std::round(static_cast<double>(bytes) * scale / static_cast<double>(element_bytes));
    return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(elements)) * element_bytes;
}

double byte_scale(const ScaleSettings& scale, std::optional<BitRate> line_rate) {
    if (!scale.reference_rate || !line_rate)
        return scale.bytes;
    return scale.bytes * static_cast<double>(line_rate->bits_per_second) /
           static_cast<double>(scale.reference_rate->bits_per_second);
}

} // namespace generator
