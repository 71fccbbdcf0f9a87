#include "generator/workload.hpp"

#include <algorithm>
#include <cmath>

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
    for (const Tensor& tensor : in_ready_order(profile.model.tensors)) {
        const double ready = ready_fraction(tensor, profile.ready_curve, profile.model.tensors.size());
        open.ready_fraction = open.tensors == 0 ? ready : std::max(open.ready_fraction, ready);
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
        buckets.push_back({.bytes = given.bytes, .ready_after = given.ready_after});
    return buckets;
}

/// DDP's rank 0 broadcasts batch-norm running statistics (float32) and batch counters (int64) before each
/// forward.
std::vector<WorkloadBucket> buffer_broadcasts(const Model& model) {
    std::vector<WorkloadBucket> buckets;
    for (const std::uint64_t bytes : {model.buffer_fp32_elements * 4, model.buffer_int64_elements * 8})
        if (bytes > 0)
            buckets.push_back({.collective = Collective::broadcast, .bytes = bytes, .before_forward = true});
    return buckets;
}

std::vector<WorkloadBucket> iteration_buckets(const Profile& profile, std::uint64_t element_bytes,
                                              Bucketing bucketing, double scale) {
    std::vector<WorkloadBucket> buckets;
    if (profile.gradients.broadcast_buffers)
        buckets = buffer_broadcasts(profile.model);
    for (WorkloadBucket bucket : gradient_buckets(profile, element_bytes, bucketing)) {
        if (!profile.gradients.overlap)
            bucket.ready_fraction = 1;
        buckets.push_back(bucket);
    }
    for (WorkloadBucket& bucket : buckets)
        bucket.bytes = scale_bytes(bucket.bytes, scale, element_bytes);
    return buckets;
}

} // namespace

Workload make_workload(const Profile& profile, double byte_scale) {
    Workload workload;
    workload.element_bytes = element_bytes(profile.element_type);
    workload.algorithm = profile.collective.algorithm;
    workload.service = profile.collective.service;
    const Bucketing bucketing = profile.gradients.bucketing;
    workload.later_iterations = iteration_buckets(profile, workload.element_bytes, bucketing, byte_scale);
    const bool whole_model_first = bucketing == Bucketing::ddp && profile.gradients.first_iteration_single;
    workload.first_iteration =
        whole_model_first ? iteration_buckets(profile, workload.element_bytes, Bucketing::single, byte_scale)
                          : workload.later_iterations;
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
