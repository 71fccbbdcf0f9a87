#include "tools/iteration_view.hpp"

#include "generator/bucketing.hpp"
#include "generator/schedule.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

namespace tools {
namespace {

using namespace generator;

/// Every forward and backward pass, then the optimizer, stretched and shifted as this iteration is.
std::vector<Phase> phases(const Profile& profile, const Workload& workload, int rank, std::uint32_t iteration,
                          nanoseconds compute) {
    const std::uint64_t seed = profile.run.seed;
    const nanoseconds stall =
        share(input_stall(profile.input_stalls, seed, rank, iteration), profile.scale.time);
    const double factor = workload.compute.count() == 0 ? 1
                                                        : static_cast<double>((compute - stall).count()) /
                                                              static_cast<double>(workload.compute.count());
    const auto at = [&](nanoseconds position) { return stall + share(position, factor); };
    const Passes all = passes(profile);
    std::vector<Phase> result;
    for (std::uint32_t step = 0; step < all.steps; ++step) {
        const nanoseconds forward = all.forward_start(step), backward = all.backward_start(step);
        result.push_back({Phase::Kind::forward, at(forward), at(backward)});
        result.push_back({Phase::Kind::backward, at(backward), at(backward + all.times.backward)});
    }
    result.push_back({Phase::Kind::optimizer, at(workload.compute - profile.compute.optimizer), compute});
    std::erase_if(result, [](const Phase& phase) { return phase.begin >= phase.end; });
    return result;
}

/// The kind of phase in which a bucket becomes ready; what becomes ready where a phase ends belongs to it.
Phase::Kind phase_at(const IterationView& view, nanoseconds time) {
    Phase::Kind kind = Phase::Kind::forward;
    for (const Phase& phase : view.phases)
        if (phase.begin < time)
            kind = phase.kind;
    return kind;
}

} // namespace

std::string phase_name(Phase::Kind kind) {
    return kind == Phase::Kind::forward    ? "forward"
           : kind == Phase::Kind::backward ? "backward"
                                           : "optimizer";
}

nanoseconds IterationView::optimizer_start() const {
    if (phases.empty())
        return compute;
    return phases.back().kind == Phase::Kind::optimizer ? phases.back().begin : phases.back().end;
}

std::uint64_t IterationView::bytes() const {
    return BucketLine{buckets}.bytes();
}

IterationView view_iteration(const Profile& profile, int rank, std::uint32_t iteration) {
    const Workload workload = make_workload(profile, byte_scale(profile.scale, profile.network.line_rate));
    const IterationSchedule schedule = iteration_schedule(profile, workload, rank, iteration);
    IterationView view;
    view.compute = schedule.compute;
    view.phases = phases(profile, workload, rank, iteration, schedule.compute);
    for (const Bucket& bucket : schedule.buckets)
        view.buckets.push_back({bucket.number, bucket.collective, workload.groups.at(bucket.group).name,
                                bucket.bytes, workload.buckets(iteration)[bucket.number].tensors,
                                bucket.ready_after, bucket.needed_at});
    return view;
}

std::uint64_t BucketLine::bytes() const {
    return std::accumulate(buckets.begin(), buckets.end(), std::uint64_t{0},
                           [](std::uint64_t sum, const BucketView& bucket) { return sum + bucket.bytes; });
}

nanoseconds BucketLine::first_ready() const {
    return std::ranges::min_element(buckets, {}, &BucketView::ready_after)->ready_after;
}

nanoseconds BucketLine::last_ready() const {
    return std::ranges::max_element(buckets, {}, &BucketView::ready_after)->ready_after;
}

nanoseconds BucketLine::first_needed() const {
    return std::ranges::min_element(buckets, {}, &BucketView::needed_at)->needed_at;
}

nanoseconds BucketLine::last_needed() const {
    return std::ranges::max_element(buckets, {}, &BucketView::needed_at)->needed_at;
}

std::vector<BucketLine> bucket_lines(const IterationView& view, std::size_t most_lines) {
    std::vector<BucketLine> lines;
    if (view.buckets.size() <= most_lines) {
        for (const BucketView& bucket : view.buckets)
            lines.push_back({{bucket}});
        return lines;
    }
    using Class = std::tuple<Phase::Kind, std::string, Collective>;
    std::map<Class, std::vector<BucketView>> classes;
    for (const BucketView& bucket : view.buckets)
        classes[{phase_at(view, bucket.ready_after), bucket.group, bucket.collective}].push_back(bucket);
    const std::size_t share =
        (view.buckets.size() + most_lines - 1) / std::max<std::size_t>(1, most_lines); // on one line
    for (const auto& [which, buckets] : classes)
        for (std::size_t begin = 0; begin < buckets.size(); begin += share) {
            const std::size_t end = std::min(begin + share, buckets.size());
            lines.push_back({{buckets.begin() + static_cast<std::ptrdiff_t>(begin),
                              buckets.begin() + static_cast<std::ptrdiff_t>(end)}});
        }
    std::ranges::stable_sort(lines, {}, &BucketLine::first_ready);
    return lines;
}

} // namespace tools
