#include "generator/prediction.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <stdexcept>

namespace generator {
namespace {

constexpr std::uint32_t most_iterations_with_jitter = 1000;
constexpr std::uint32_t most_iterations_alike = 20; ///< after warm-up
constexpr double same_instant = 1e-9;               ///< seconds

nanoseconds to_nanoseconds(double seconds) {
    return nanoseconds(std::llround(seconds * 1e9));
}

/// Plans of all ranks, joined when a bucket is met for the first time.
class JoinedPlans {
public:
    JoinedPlans(const Workload& workload, int world_size, std::optional<std::uint64_t> segment_bytes)
        : workload_(workload), world_size_(world_size), segment_bytes_(segment_bytes) {}

    const TransferPlan& find(const BucketKind& bucket) {
        const auto [known, added] = plans_.try_emplace(bucket);
        if (added) {
            std::vector<RankPlan> ranks;
            for (int rank = 0; rank < world_size_; ++rank)
                ranks.push_back(bucket_plan(workload_, bucket, rank, world_size_));
            known->second = join_plans(ranks, segment_bytes_);
            known->second.participants = 0;
            for (int rank = 0; rank < world_size_; ++rank)
                known->second.participants += workload_.groups.at(bucket.group).takes_part(rank) ? 1u : 0u;
        }
        return known->second;
    }

private:
    const Workload& workload_;
    int world_size_;
    std::optional<std::uint64_t> segment_bytes_;
    std::map<BucketKind, TransferPlan> plans_;
};

/// When the last bucket of an iteration ended on the last rank.
double quiet_from(const std::vector<IterationTimes>& ranks) {
    return std::max_element(
               ranks.begin(), ranks.end(),
               [](const auto& a, const auto& b) { return a.last_bucket_end < b.last_bucket_end; })
        ->last_bucket_end;
}

/// The time after which everything repeats: all ranks start iteration `last + 1` as much later than iteration
/// `last`, and nothing of one iteration is in flight when the next begins its first bucket. 0 if it does not.
double period(const Profile& profile, const Workload& workload, const FluidModel& model, std::uint32_t last) {
    if (varies(profile) || last == 0)
        return 0;
    const std::vector<IterationTimes>& ranks = model.iterations()[last];
    const double length = ranks[0].end - ranks[0].start;
    double next_bucket = ranks[0].end + length;
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
        if (std::abs(ranks[rank].end - ranks[rank].start - length) > same_instant)
            return 0;
        const auto schedule = iteration_schedule(profile, workload, static_cast<int>(rank), last + 1);
        for (const Bucket& bucket : schedule.buckets)
            next_bucket = std::min(
                next_bucket, ranks[rank].end + std::chrono::duration<double>(bucket.ready_after).count());
    }
    return next_bucket > quiet_from(ranks) + same_instant ? length : 0;
}

/// Adds `copies` of the last iteration, each `length` later than the one before.
void repeat(Prediction& prediction, double length, std::uint32_t copies) {
    const std::vector<IterationTimes> last = prediction.iterations.back();
    const double from = quiet_from(prediction.iterations[prediction.iterations.size() - 2]);
    for (std::uint32_t copy = 1; copy <= copies; ++copy) {
        prediction.iterations.push_back(last);
        for (IterationTimes& times : prediction.iterations.back())
            for (double* instant : {&times.start, &times.last_bucket_end, &times.end})
                *instant += copy * length;
    }
    for (ConnectionFlow& connection : prediction.connections) {
        const auto first =
            std::find_if(connection.flows.begin(), connection.flows.end(),
                         [from](const Flow& flow) { return flow.begin >= from - same_instant; });
        const std::vector<Flow> repeated(first, connection.flows.end());
        for (std::uint32_t copy = 1; copy <= copies; ++copy)
            for (const Flow& flow : repeated)
                connection.flows.push_back(
                    {flow.begin + copy * length, flow.end + copy * length, flow.bytes});
    }
}

void summarize_times(Prediction& prediction) {
    for (const std::vector<IterationTimes>& ranks : prediction.iterations) {
        double longest = 0;
        for (const IterationTimes& times : ranks)
            longest = std::max(longest, times.end - times.start);
        prediction.iteration_times.push_back(to_nanoseconds(longest));
    }
    const auto measured = prediction.iteration_times.begin() + prediction.warmup;
    const auto count = prediction.iteration_times.end() - measured;
    prediction.iteration_mean = std::accumulate(measured, prediction.iteration_times.end(), nanoseconds{0}) /
                                std::max<std::ptrdiff_t>(1, count);
}

} // namespace

double goodput_share(std::uint64_t mtu, std::uint64_t frame_overhead_bytes) {
    constexpr std::uint64_t headers = 52;
    if (mtu <= headers)
        throw std::invalid_argument("an MTU of " + std::to_string(mtu) + " leaves no room for payload");
    return static_cast<double>(mtu - headers) / static_cast<double>(mtu + frame_overhead_bytes);
}

Prediction predict(const Profile& profile, const Workload& workload, int world_size, const LinkModel& link,
                   std::uint32_t iterations) {
    if (link.payload_bytes_per_second() <= 0)
        throw std::invalid_argument("a prediction needs the line rate");
    const std::uint32_t most =
        varies(profile) ? most_iterations_with_jitter : profile.run.warmup + most_iterations_alike;
    Prediction prediction;
    prediction.world_size = world_size;
    FluidJob job;
    job.topology.hosts = link.hosts;
    if (link.hosts.empty()) {
        job.topology.hosts.resize(static_cast<std::size_t>(world_size));
        std::iota(job.topology.hosts.begin(), job.topology.hosts.end(), 0);
    }
    job.topology.bytes_per_second = link.payload_bytes_per_second();
    job.latency = std::chrono::duration<double>(link.step_latency).count();
    job.iterations = std::clamp(iterations, 1u, most);
    prediction.warmup = std::min(profile.run.warmup, job.iterations - 1);
    JoinedPlans plans(workload, world_size,
                      link.pipelining ? std::optional(profile.collective.segment_bytes) : std::nullopt);
    job.schedule = [&](int rank, std::uint32_t iteration) {
        return iteration_schedule(profile, workload, rank, iteration);
    };
    job.plan = [&](const BucketKind& bucket) -> const TransferPlan& { return plans.find(bucket); };
    FluidModel model(job);
    for (std::uint32_t last = 0; last < job.iterations; ++last) {
        model.run_to_end_of(last);
        const double length = period(profile, workload, model, last);
        if (length == 0 && last + 1 < job.iterations)
            continue;
        prediction.iterations = model.iterations();
        prediction.iterations.resize(last + 1);
        prediction.connections = model.connections();
        if (last + 1 < job.iterations)
            repeat(prediction, length, job.iterations - last - 1);
        break;
    }
    summarize_times(prediction);
    return prediction;
}

} // namespace generator
