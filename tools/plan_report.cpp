#include "tools/plan_report.hpp"

#include "generator/profile_ranks.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace tools {

using namespace generator;

namespace {

constexpr int most_ranks = 1024; // beyond it a ring's plans and its prediction take minutes and gigabytes

LinkModel link_model(const Profile& profile, const PlanSettings& settings) {
    if (!profile.network.line_rate)
        throw ProfileError("--line-rate: required, because the profile does not set network.line_rate");
    LinkModel link;
    link.line_rate = *profile.network.line_rate;
    link.step_latency = settings.step_latency;
    link.goodput_share = settings.ideal ? 1 : goodput_share(settings.mtu);
    for (int rank = 0; rank < settings.ranks; ++rank)
        link.hosts.push_back(rank / settings.ranks_per_host);
    return link;
}

void check(const PlanSettings& settings) {
    if (settings.ranks < 1 || settings.ranks > most_ranks)
        throw ProfileError(fmt::format("--ranks: must be 1 to {}, is {}", most_ranks, settings.ranks));
    if (settings.ranks_per_host < 1 || settings.ranks_per_host > most_ranks)
        throw ProfileError(
            fmt::format("--ranks-per-host: must be 1 to {}, is {}", most_ranks, settings.ranks_per_host));
    if (settings.mtu < 68 || settings.mtu > 65536) // RFC 791; the largest of the loopback device
        throw ProfileError(fmt::format("--mtu: must be 68 to 65536, is {}", settings.mtu));
}

Range range_of(const std::vector<std::uint64_t>& values) {
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    return {*least, *most};
}

/// Without what differs between ranks and iterations.
IterationPlan iteration_plan(const Profile& profile, const Workload& workload, std::uint32_t iteration,
                             int ranks) {
    const std::vector<WorkloadBucket>& buckets = workload.buckets(iteration);
    IterationPlan plan;
    for (const WorkloadBucket& bucket : buckets)
        plan.buckets.push_back({bucket.collective, bucket.bytes, bucket.tensors,
                                nanoseconds(std::llround(static_cast<double>(bucket.ready_after.count()) *
                                                         profile.scale.time))});
    std::vector<std::uint64_t> bytes(static_cast<std::size_t>(ranks), 0);
    std::vector<std::uint64_t> transfers(bytes);
    for (int rank = 0; rank < ranks; ++rank)
        for (const WorkloadBucket& bucket : buckets) {
            const RankPlan of_rank = bucket_plan(workload, bucket, rank, ranks);
            const auto index = static_cast<std::size_t>(rank);
            bytes[index] += of_rank.sent_bytes();
            transfers[index] +=
                static_cast<std::uint64_t>(std::count_if(of_rank.operations.begin(), of_rank.operations.end(),
                                                         [](const auto& o) { return o.is_send(); }));
        }
    plan.sent_bytes = range_of(bytes);
    plan.transfers = range_of(transfers);
    plan.all_sent_bytes = std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0});
    return plan;
}

Range connections_per_rank(const Prediction& prediction) {
    std::vector<std::uint64_t> opened(static_cast<std::size_t>(prediction.world_size), 0);
    for (const ConnectionFlow& connection : prediction.connections)
        ++opened[static_cast<std::size_t>(connection.from)];
    return range_of(opened);
}

std::optional<BandwidthEstimate> largest_all_reduce(const Profile& profile, const Workload& workload,
                                                    const PlanReport& report) {
    BandwidthEstimate estimate;
    for (const WorkloadBucket& bucket : workload.later_iterations)
        if (bucket.collective == Collective::all_reduce)
            estimate.bytes = std::max(estimate.bytes, bucket.bytes);
    if (estimate.bytes == 0 || report.settings.ranks < 2)
        return std::nullopt;
    Profile alone = without_variation(profile);
    alone.compute = {};
    alone.run.warmup = 0;
    alone.gradients.bucketing = Bucketing::explicit_list;
    Workload one = workload; // its algorithm
    one.first_iteration = {{{.bytes = estimate.bytes}}};
    one.compute = {};
    estimate.time = predict(alone, one, report.settings.ranks, report.link, 1).iteration_mean;
    return estimate;
}

/// A run ends after the iteration in which its duration has passed, or after its last iteration.
void count_iterations(PlanReport& report) {
    const RunSettings& run = report.profile.run;
    if (run.iterations)
        report.iterations = *run.iterations;
    if (!run.duration)
        return;
    const std::int64_t length = std::max<std::int64_t>(1, report.prediction.iteration_mean.count());
    const auto by_duration = static_cast<std::uint32_t>(
        std::clamp<std::int64_t>((run.duration->count() + length - 1) / length, 1, 1'000'000'000));
    report.iterations_estimated = !run.iterations || by_duration < *run.iterations;
    if (report.iterations_estimated)
        report.iterations = by_duration;
}

void add_burstiness(PlanReport& report) {
    std::vector<int> host_ranks(
        static_cast<std::size_t>(std::min(report.settings.ranks, report.settings.ranks_per_host)));
    std::iota(host_ranks.begin(), host_ranks.end(), 0);
    report.loopback = report.settings.ranks_per_host >= report.settings.ranks;
    report.trace = predicted_trace(report.prediction, host_ranks, report.loopback);
    report.trace.info.host = "host 0";
    report.trace.info.interface = report.loopback ? "loopback" : "NIC";
    const auto everything = [&report](std::span<const BitRate> rates) {
        return collectors::summarize(report.trace, collectors::Direction::tx, nanoseconds::min(),
                                     nanoseconds::max(), report.settings.windows, rates);
    };
    const auto rate = [](double bits_per_second) {
        return BitRate{static_cast<std::uint64_t>(std::llround(bits_per_second))};
    };
    std::vector<BitRate> rates{rate(2 * everything({}).mean_bits_per_second),
                               rate(4 * report.link.payload_bytes_per_second())};
    rates.insert(rates.end(), report.settings.rates.begin(), report.settings.rates.end());
    report.summary = everything(rates);
}

} // namespace

double BandwidthEstimate::algorithm_bytes_per_second() const {
    return static_cast<double>(bytes) / std::chrono::duration<double>(time).count();
}

double BandwidthEstimate::bus_bytes_per_second(int ranks) const {
    return 2.0 * (ranks - 1) / ranks * algorithm_bytes_per_second();
}

std::uint64_t PlanReport::run_bytes() const {
    return first.all_sent_bytes + std::uint64_t{iterations - 1} * later.all_sent_bytes;
}

nanoseconds PlanReport::burst_length() const {
    const std::size_t measured = prediction.iteration_times.size() - prediction.warmup;
    return nanoseconds(std::llround(static_cast<double>(summary.nic_bytes) / static_cast<double>(measured) /
                                    link.payload_bytes_per_second() * 1e9));
}

PlanReport make_report(const Profile& profile, const PlanSettings& settings) {
    check(settings);
    PlanReport report;
    report.profile = profile;
    report.settings = settings;
    report.link = link_model(profile, settings);
    report.byte_scale = byte_scale(profile.scale, report.link.line_rate);
    Workload workload = make_workload(profile, report.byte_scale);
    workload.hosts = report.link.hosts;
    check_for_ranks(profile, settings.ranks, workload.hosts, settings.profile_file);
    report.first = iteration_plan(profile, workload, 0, settings.ranks);
    report.later = iteration_plan(profile, workload, 1, settings.ranks);
    report.prediction = predict(profile, workload, settings.ranks, report.link,
                                profile.run.iterations.value_or(profile.run.warmup + 20));
    count_iterations(report);
    report.connections = connections_per_rank(report.prediction);
    report.ports_per_host = std::min(settings.ranks, settings.ranks_per_host);
    report.needs = estimate_needs(
        profile, workload,
        {.world_size = settings.ranks,
         .ranks_per_host = report.ports_per_host,
         .interfaces = (settings.ranks + settings.ranks_per_host - 1) / settings.ranks_per_host,
         .line_rate = report.link.line_rate});
    add_burstiness(report);
    report.bandwidth = largest_all_reduce(profile, workload, report);
    return report;
}

} // namespace tools
