#include "generator/bucketing.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace generator {
namespace {

std::vector<std::size_t> ready_order(const std::vector<Tensor>& tensors) {
    std::vector<std::size_t> order(tensors.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&tensors](std::size_t a, std::size_t b) {
        return tensors[a].ready_order < tensors[b].ready_order;
    });
    return order;
}

/// When the share `bytes` of all bytes is ready: the curve read from its other axis. Where it is level, the
/// earliest.
double backward_fraction(const std::vector<CurvePoint>& curve, double bytes) {
    for (std::size_t i = 1; i < curve.size(); ++i) {
        const CurvePoint& from = curve[i - 1];
        const CurvePoint& to = curve[i];
        if (bytes <= to.bytes && to.bytes > from.bytes)
            return from.backward + (to.backward - from.backward) * std::max(0.0, bytes - from.bytes) /
                                       (to.bytes - from.bytes);
    }
    return 1;
}

double ready_fraction(const Profile& profile, const Tensor& tensor, double bytes_until_then) {
    switch (profile.ready_curve) {
    case ReadyCurve::arithmetic:
        return tensor.ready_arithmetic;
    case ReadyCurve::fp32:
        return tensor.ready_fp32;
    case ReadyCurve::tensor:
        return tensor.ready_tensor;
    case ReadyCurve::uniform:
        return (tensor.ready_order + 1.0) / static_cast<double>(profile.model.tensors.size());
    case ReadyCurve::points:
        return backward_fraction(profile.curve_points, bytes_until_then);
    }
    return 1;
}

/// A gradient, or a piece of one, that can be sent.
struct ReadyGradient {
    std::uint64_t bytes = 0;
    nanoseconds ready_after{0};
};

/// In ready order; none is ready before the one in front of it, because buckets are sent in order. Without
/// overlap all wait for the end of backward.
std::vector<ReadyGradient> ready_gradients(const Profile& profile) {
    const Passes at = passes(profile);
    const std::vector<double> fractions = ready_fractions(profile);
    std::vector<ReadyGradient> gradients;
    nanoseconds ready = at.backward_start(at.steps - 1);
    for (const std::size_t index : ready_order(profile.model.tensors)) {
        ready = std::max(ready, at.backward_start(at.steps - 1) + share(at.times.backward, fractions[index]));
        gradients.push_back({profile.model.tensors[index].elements * element_bytes(profile.element_type),
                             profile.gradients.overlap ? ready : at.backward_end()});
    }
    return gradients;
}

/// Fuses gradients in ready order. `starts_new(bucket, next)` says whether the next gradient no longer
/// belongs to the open bucket, number `bucket.number` so far.
struct OpenBucket {
    std::size_t number = 0;
    WorkloadBucket bucket;
};

template <class StartsNew>
std::vector<WorkloadBucket> fuse(const std::vector<ReadyGradient>& gradients, StartsNew starts_new) {
    std::vector<WorkloadBucket> buckets;
    OpenBucket open;
    for (const ReadyGradient& gradient : gradients) {
        if (open.bucket.tensors > 0 && starts_new(open, gradient)) {
            buckets.push_back(open.bucket);
            open = {buckets.size(), {}};
        }
        open.bucket.ready_after = gradient.ready_after;
        open.bucket.bytes += gradient.bytes;
        ++open.bucket.tensors;
    }
    if (open.bucket.tensors > 0)
        buckets.push_back(open.bucket);
    return buckets;
}

/// Horovod looks every cycle at what has become ready, and fuses it. Cycles are counted from the start of
/// backward; in truth they run freely.
std::vector<ReadyGradient> at_cycles(std::vector<ReadyGradient> gradients, const Profile& profile) {
    const Passes at = passes(profile);
    const nanoseconds start = at.backward_start(at.steps - 1);
    const nanoseconds cycle = profile.gradients.cycle_time;
    for (ReadyGradient& gradient : gradients)
        gradient.ready_after =
            start + cycle * ((gradient.ready_after - start + cycle - nanoseconds(1)) / cycle);
    return gradients;
}

/// Pieces of whole elements.
std::vector<ReadyGradient> pieces(const std::vector<ReadyGradient>& gradients, const Profile& profile) {
    const std::uint64_t element = element_bytes(profile.element_type);
    const std::uint64_t most =
        std::max<std::uint64_t>(1, profile.gradients.partition_bytes / element) * element;
    std::vector<ReadyGradient> result;
    for (const ReadyGradient& gradient : gradients)
        for (std::uint64_t offset = 0; offset < gradient.bytes; offset += most)
            result.push_back({std::min(most, gradient.bytes - offset), gradient.ready_after});
    return result;
}

std::vector<WorkloadBucket> fused(const Profile& profile, Bucketing bucketing) {
    const GradientSettings& settings = profile.gradients;
    const std::vector<ReadyGradient> gradients = ready_gradients(profile);
    const auto each_alone = [](const OpenBucket&, const ReadyGradient&) { return true; };
    switch (bucketing) {
    case Bucketing::single:
        return fuse(gradients, [](const OpenBucket&, const ReadyGradient&) { return false; });
    case Bucketing::per_tensor:
        return fuse(gradients, each_alone);
    case Bucketing::ddp:
        return fuse(gradients, [&settings](const OpenBucket& open, const ReadyGradient&) {
            return open.bucket.bytes >=
                   (open.number == 0 ? settings.first_bucket_bytes : settings.bucket_cap_bytes);
        });
    case Bucketing::horovod:
        return fuse(at_cycles(gradients, profile),
                    [&settings](const OpenBucket& open, const ReadyGradient& next) {
                        return next.ready_after > open.bucket.ready_after ||
                               open.bucket.bytes + next.bytes > settings.fusion_threshold;
                    });
    case Bucketing::partitioned:
        return fuse(pieces(gradients, profile), each_alone);
    case Bucketing::explicit_list:
        break;
    }
    return {};
}

} // namespace

Passes passes(const Profile& profile) {
    return {profile.compute, profile.accumulation_steps};
}

nanoseconds share(nanoseconds time, double fraction) {
    return nanoseconds(std::llround(static_cast<double>(time.count()) * fraction));
}

std::vector<double> ready_fractions(const Profile& profile) {
    const std::vector<Tensor>& tensors = profile.model.tensors;
    const auto all = static_cast<double>(profile.model.elements());
    std::vector<double> fractions(tensors.size());
    std::uint64_t elements = 0;
    for (const std::size_t index : ready_order(tensors)) {
        elements += tensors[index].elements;
        fractions[index] = ready_fraction(profile, tensors[index], static_cast<double>(elements) / all);
    }
    return fractions;
}

IterationBuckets gradient_buckets(const Profile& profile, Bucketing bucketing) {
    IterationBuckets iteration{fused(profile, bucketing), passes(profile).backward_end()};
    for (const WorkloadBucket& bucket : iteration.buckets)
        iteration.optimizer_start = std::max(iteration.optimizer_start, bucket.ready_after);
    for (WorkloadBucket& bucket : iteration.buckets)
        bucket.needed_at = iteration.optimizer_start;
    return iteration;
}

} // namespace generator
