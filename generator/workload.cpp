#include "generator/workload.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace generator {
namespace {

double ready_fraction(const Tensor& tensor, ReadyCurve curve, std::size_t tensor_count) {
    switch (curve) {
    case ReadyCurve::arithmetic:
        return tensor.ready_arithmetic;
    case ReadyCurve::fp32:
        return tensor.ready_fp32;
    case ReadyCurve::tensor:
        return tensor.ready_tensor;
    case ReadyCurve::uniform:
        return (tensor.ready_order + 1.0) / static_cast<double>(tensor_count);
    }
    return 1;
}

nanoseconds share(nanoseconds time, double fraction) {
    return nanoseconds(std::llround(static_cast<double>(time.count()) * fraction));
}

std::vector<Tensor> in_ready_order(std::vector<Tensor> tensors) {
    std::sort(tensors.begin(), tensors.end(),
              [](const Tensor& a, const Tensor& b) { return a.ready_order < b.ready_order; });
    return tensors;
}

/// Fuses the gradients in ready order; `closes` says whether bucket number i of `bytes` bytes is full.
template <class Closes>
std::vector<WorkloadBucket> fuse(const Profile& profile, std::uint64_t element_bytes, Closes closes) {
    std::vector<WorkloadBucket> buckets;
    WorkloadBucket open;
    const ComputeTimes& compute = profile.compute;
    for (const Tensor& tensor : in_ready_order(profile.model.tensors)) {
        const double ready = ready_fraction(tensor, profile.ready_curve, profile.model.tensors.size());
        open.ready_after = std::max(open.ready_after, compute.forward + share(compute.backward, ready));
        open.bytes += tensor.elements * element_bytes;
        ++open.tensors;
        if (closes(buckets.size(), open.bytes)) {
            buckets.push_back(open);
            open = {};
        }
    }
    if (open.tensors > 0)
        buckets.push_back(open);
    return buckets;
}

std::vector<WorkloadBucket> gradient_buckets(const Profile& profile, std::uint64_t element_bytes,
                                             Bucketing bucketing) {
    const GradientSettings& gradients = profile.gradients;
    switch (bucketing) {
    case Bucketing::single:
        return fuse(profile, element_bytes, [](std::size_t, std::uint64_t) { return false; });
    case Bucketing::per_tensor:
        return fuse(profile, element_bytes, [](std::size_t, std::uint64_t) { return true; });
    case Bucketing::ddp:
        return fuse(profile, element_bytes, [&](std::size_t number, std::uint64_t bytes) {
            return bytes >= (number == 0 ? gradients.first_bucket_bytes : gradients.bucket_cap_bytes);
        });
    case Bucketing::explicit_list:
        break;
    }
    std::vector<WorkloadBucket> buckets;
    for (const ExplicitBucket& given : gradients.buckets)
        buckets.push_back({{.bytes = given.bytes}, 0, given.ready_after});
    return buckets;
}

/// DDP's rank 0 broadcasts batch-norm running statistics (float32) and batch counters (int64) before each
/// forward.
std::vector<WorkloadBucket> buffer_broadcasts(const Model& model) {
    std::vector<WorkloadBucket> buckets;
    for (const std::uint64_t bytes : {model.buffer_fp32_elements * 4, model.buffer_int64_elements * 8})
        if (bytes > 0)
            buckets.push_back({{.collective = Collective::broadcast, .bytes = bytes}});
    return buckets;
}

std::vector<WorkloadBucket> iteration_buckets(const Profile& profile, std::uint64_t element_bytes,
                                              Bucketing bucketing, double scale) {
    const nanoseconds backward_end = profile.compute.forward + profile.compute.backward;
    std::vector<WorkloadBucket> buckets;
    if (profile.gradients.broadcast_buffers)
        buckets = buffer_broadcasts(profile.model);
    for (WorkloadBucket bucket : gradient_buckets(profile, element_bytes, bucketing)) {
        if (!profile.gradients.overlap && bucketing != Bucketing::explicit_list)
            bucket.ready_after = backward_end;
        buckets.push_back(bucket);
    }
    for (WorkloadBucket& bucket : buckets) {
        bucket.bytes = scale_bytes(bucket.bytes, scale, element_bytes);
    }
    nanoseconds optimizer_start = backward_end; // it needs all gradients
    for (const WorkloadBucket& bucket : buckets)
        optimizer_start = std::max(optimizer_start, bucket.ready_after);
    for (WorkloadBucket& bucket : buckets)
        bucket.needed_at = optimizer_start;
    return buckets;
}

} // namespace

bool Group::takes_part(int rank) const {
    return members.empty() || std::any_of(members.begin(), members.end(), [rank](const auto& some) {
               return std::find(some.begin(), some.end(), rank) != some.end();
           });
}

std::vector<int> Group::members_with(int rank, int world_size) const {
    std::vector<int> all;
    if (members.empty()) {
        all.resize(static_cast<std::size_t>(world_size));
        std::iota(all.begin(), all.end(), 0);
        return all;
    }
    for (const std::vector<int>& some : members)
        if (std::find(some.begin(), some.end(), rank) != some.end())
            return some;
    return {};
}

CollectiveCall Workload::call(Collective what, std::uint64_t bytes, const std::vector<int>& members) const {
    CollectiveCall call;
    call.collective = what;
    call.bytes = bytes;
    call.element_bytes = element_bytes;
    call.algorithm = collective.algorithm;
    call.service = collective.service;
    call.channels = collective.channels;
    call.sockets = collective.sockets_per_channel;
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
    const Bucketing bucketing = profile.gradients.bucketing;
    workload.later_iterations = iteration_buckets(profile, workload.element_bytes, bucketing, byte_scale);
    const bool whole_model_first = bucketing == Bucketing::ddp && profile.gradients.first_iteration_single;
    workload.first_iteration =
        whole_model_first ? iteration_buckets(profile, workload.element_bytes, Bucketing::single, byte_scale)
                          : workload.later_iterations;
    nanoseconds optimizer_start = profile.compute.forward + profile.compute.backward;
    for (const WorkloadBucket& bucket : workload.later_iterations)
        optimizer_start = std::max(optimizer_start, bucket.needed_at);
    workload.compute = optimizer_start + profile.compute.optimizer;
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
