#include "generator/prediction.hpp"

#include "collectors/units.hpp"
#include "generator/failure.hpp"
#include "generator/joined_plans.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <utility>

namespace generator {
namespace {

constexpr std::uint32_t most_iterations_with_jitter = 1000;
constexpr std::uint32_t most_iterations_alike = 20; ///< after warm-up
constexpr int most_ranks_executed_exactly = 32;
constexpr std::uint64_t most_transfers = 1'000'000; ///< in an iteration; each takes about 1 KB and 10 us
constexpr double most_left_out = 0.01;              ///< share of the bytes
constexpr double same_instant = 1e-9;               ///< seconds

nanoseconds to_nanoseconds(double seconds) {
    return nanoseconds(std::llround(seconds * 1e9));
}

Topology topology_of(const LinkModel& link, int world_size) {
    Topology topology;
    topology.hosts = link.hosts;
    if (topology.hosts.empty()) {
        topology.hosts.resize(static_cast<std::size_t>(world_size));
        std::iota(topology.hosts.begin(), topology.hosts.end(), 0);
    }
    topology.bytes_per_second = link.payload_bytes_per_second();
    topology.hosts_per_leaf = link.hosts_per_leaf;
    topology.oversubscription = link.oversubscription;
    return topology;
}

/// A block of ranks that is executed for all.
struct Folding {
    RankBlock block;
    std::set<BucketKind> left_out;
};

/// The smallest block that can stand for all, unless it has too many transfers itself.
std::optional<Folding> find_folding(JoinedPlans& plans, const Topology& topology, double share_left_out) {
    for (const RankBlock& block : equal_blocks(topology)) {
        const std::uint64_t blocks = topology.hosts.size() / static_cast<std::uint64_t>(block.size);
        if (block.size > 1 && plans.transfers_per_iteration() / blocks > most_transfers)
            continue;
        if (auto left_out = plans.fold(topology, block, share_left_out))
            return Folding{block, std::move(*left_out)};
    }
    return std::nullopt;
}

/// Decides whether a block is executed for all: nullopt when every rank is.
std::optional<Folding> choose(JoinedPlans& plans, const Topology& topology, bool compute_alike,
                              Execution execution) {
    const auto world_size = static_cast<int>(topology.hosts.size());
    if (execution == Execution::every_rank ||
        (execution == Execution::by_size && world_size <= most_ranks_executed_exactly))
        return std::nullopt;
    if (compute_alike)
        if (auto alike = find_folding(plans, topology, 0))
            return alike;
    const std::uint64_t transfers = plans.transfers_per_iteration();
    if (transfers <= most_transfers)
        return std::nullopt;
    if (compute_alike)
        if (auto nearly_alike = find_folding(plans, topology, most_left_out))
            return nearly_alike;
    throw UserError("a prediction of " + std::to_string(world_size) +
                    " ranks that are not alike would take " + std::to_string(transfers / 1'000'000) +
                    " GB and hours: " + std::to_string(transfers) + " transfers in an iteration, at most " +
                    std::to_string(most_transfers) +
                    " are possible; ranks of one host or leaf can stand for all others without jitter, "
                    "stragglers and input stalls, with equally many ranks on each host and hosts on each "
                    "oversubscribed leaf, in collectives without a root");
}

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
            next_bucket = std::min(next_bucket, ranks[rank].end + collectors::in_seconds(bucket.ready_after));
    }
    return next_bucket > quiet_from(ranks) + same_instant ? length : 0;
}

/// Times are nanoseconds in 64 bits, which hold 292 years.
void require_countable_time(const std::vector<IterationTimes>& ranks, std::uint32_t done,
                            std::uint32_t iterations) {
    constexpr double longest = 4e9;
    for (const IterationTimes& times : ranks)
        if (!(times.end / done * iterations < longest))
            throw UserError("a prediction of " + std::to_string(iterations) +
                            " iterations would end after more than 100 years; give smaller buckets or a "
                            "faster link");
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
                   std::uint32_t iterations, Execution execution) {
    if (link.payload_bytes_per_second() <= 0)
        throw std::invalid_argument("a prediction needs the line rate");
    const std::uint32_t most =
        varies(profile) ? most_iterations_with_jitter : profile.run.warmup + most_iterations_alike;
    Prediction prediction;
    prediction.world_size = world_size;
    FluidJob job;
    job.latency = collectors::in_seconds(link.step_latency);
    job.iterations = std::clamp(iterations, 1u, most);
    prediction.warmup = std::min(profile.run.warmup, job.iterations - 1);
    JoinedPlans plans(workload, world_size,
                      link.pipelining ? std::optional(profile.collective.segment_bytes) : std::nullopt);
    job.topology = topology_of(link, world_size);
    prediction.executed_ranks = world_size;
    if (const auto folding = choose(plans, job.topology, !varies(profile), execution)) {
        prediction.executed_ranks = folding->block.size;
        prediction.left_out = folding->left_out;
        job.topology = topology_of_block(job.topology, folding->block);
    }
    job.schedule = [&](int rank, std::uint32_t iteration) {
        IterationSchedule schedule = iteration_schedule(profile, workload, rank, iteration);
        std::erase_if(schedule.buckets,
                      [&](const Bucket& bucket) { return prediction.left_out.contains(bucket); });
        return schedule;
    };
    job.plan = [&](const BucketKind& bucket) -> const TransferPlan& { return plans.find(bucket); };
    FluidModel model(job);
    for (std::uint32_t last = 0; last < job.iterations; ++last) {
        model.run_to_end_of(last);
        require_countable_time(model.iterations()[last], last + 1, job.iterations);
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
    for (std::vector<IterationTimes>& ranks : prediction.iterations)
        for (auto rank = static_cast<std::size_t>(prediction.executed_ranks);
             rank < static_cast<std::size_t>(world_size); ++rank)
            ranks.push_back(
                IterationTimes(ranks[rank % static_cast<std::size_t>(prediction.executed_ranks)]));
    return prediction;
}

} // namespace generator
