#include "generator/bucketing.hpp"

#include <algorithm>

namespace generator {
namespace {

/// A unit of the model in sharded training. Its forward and its backward pass take the same share of theirs.
struct Unit {
    std::uint64_t bytes = 0;
    std::size_t tensors = 0;
    double backward_start = 0; ///< fraction of the backward pass; the unit behind it ends there
    double backward_end = 1;

    double forward_start() const { return 1 - backward_end; }
};

/// A unit's backward pass ends when its last gradient is ready, in the order opposite to forward.
std::vector<Unit> units(const Profile& profile) {
    const std::vector<double> fractions = ready_fractions(profile);
    std::vector<Unit> units;
    std::size_t tensor = 0;
    for (const ModelUnit& named : profile.model.units) {
        Unit unit{0, named.tensors, 0, 0};
        for (const std::size_t end = tensor + named.tensors; tensor < end; ++tensor) {
            unit.bytes += profile.model.tensors[tensor].elements * element_bytes(profile.element_type);
            unit.backward_end = std::max(unit.backward_end, fractions[tensor]);
        }
        units.push_back(unit);
    }
    if (!units.empty())
        units.front().backward_end = 1;
    for (std::size_t i = units.size(); i-- > 1;) {
        units[i - 1].backward_end = std::max(units[i - 1].backward_end, units[i].backward_end);
        units[i - 1].backward_start = units[i].backward_end;
    }
    return units;
}

WorkloadBucket collective(Collective what, const Unit& unit, nanoseconds ready_after, nanoseconds needed_at) {
    return {{.collective = what, .bytes = unit.bytes}, unit.tensors, ready_after, needed_at};
}

/// Parameters are gathered `prefetch` units ahead; computing waits for those that it works with.
void add_forward(std::vector<WorkloadBucket>& buckets, const std::vector<Unit>& units, const Profile& profile,
                 nanoseconds start) {
    const auto begins = [&](std::size_t unit) {
        return start + share(profile.compute.forward, units[unit].forward_start());
    };
    for (std::size_t i = 0; i < units.size(); ++i) {
        const std::size_t ahead = std::min<std::size_t>(profile.gradients.prefetch, i);
        buckets.push_back(collective(Collective::all_gather, units[i], begins(i - ahead), begins(i)));
    }
}

/// The last unit of forward is the first of backward and is still there. At the end of a unit its gradients
/// leave before the next unit is gathered: PyTorch's order of hooks (FSDP with BACKWARD_PRE).
void add_backward(std::vector<WorkloadBucket>& buckets, const std::vector<Unit>& units,
                  const Profile& profile, nanoseconds start, bool with_gradients) {
    const nanoseconds backward = profile.compute.backward;
    const auto begins = [&](std::size_t unit) { return start + share(backward, units[unit].backward_start); };
    const nanoseconds end = start + backward;
    std::vector<WorkloadBucket> pass;
    for (std::size_t i = units.size(); with_gradients && i-- > 0;) {
        const nanoseconds ready =
            profile.gradients.overlap ? start + share(backward, units[i].backward_end) : end;
        pass.push_back(collective(Collective::reduce_scatter, units[i], ready, end));
    }
    for (std::size_t i = units.size(); i-- > 1;) {
        const std::size_t ahead = std::min<std::size_t>(i - 1 + profile.gradients.prefetch, units.size() - 1);
        pass.push_back(collective(Collective::all_gather, units[i - 1], begins(ahead), begins(i - 1)));
    }
    std::stable_sort(pass.begin(), pass.end(), [](const WorkloadBucket& a, const WorkloadBucket& b) {
        return a.ready_after < b.ready_after;
    });
    buckets.insert(buckets.end(), pass.begin(), pass.end());
}

} // namespace

IterationBuckets with_sharded_optimizer(IterationBuckets iteration, const Profile& profile) {
    std::vector<WorkloadBucket> gathers = iteration.buckets;
    const nanoseconds end = iteration.optimizer_start + profile.compute.optimizer;
    for (WorkloadBucket& bucket : gathers) {
        bucket.collective = Collective::all_gather;
        bucket.ready_after = bucket.needed_at = end;
    }
    for (WorkloadBucket& bucket : iteration.buckets)
        bucket.collective = Collective::reduce_scatter;
    iteration.buckets.insert(iteration.buckets.end(), gathers.begin(), gathers.end());
    return iteration;
}

IterationBuckets unit_buckets(const Profile& profile) {
    const Passes at = passes(profile);
    const std::vector<Unit> all = units(profile);
    IterationBuckets iteration{{}, at.backward_end()};
    for (std::uint32_t step = 0; step < at.steps; ++step) {
        add_forward(iteration.buckets, all, profile, at.forward_start(step));
        add_backward(iteration.buckets, all, profile, at.backward_start(step), step + 1 == at.steps);
    }
    return iteration;
}

} // namespace generator
