#include "tools/plan_report.hpp"

#include "collectors/units.hpp"
#include "generator/bus_bandwidth.hpp"
#include "generator/profile_ranks.hpp"
#include "generator/saturating.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <fmt/format.h>

namespace tools {

using namespace generator;

namespace {

constexpr int most_ranks = 16384; // beyond it the plan of one rank alone takes seconds

LinkModel link_model(const Profile& profile, const PlanSettings& settings) {
    if (!profile.network.line_rate)
        throw UserError("--line-rate: required, because the profile does not set network.line_rate");
    LinkModel link;
    link.line_rate = *profile.network.line_rate;
    link.step_latency = settings.step_latency;
    link.goodput_share = settings.ideal ? 1 : goodput_share(settings.mtu);
    for (int rank = 0; rank < settings.ranks; ++rank)
        link.hosts.push_back(rank / settings.ranks_per_host);
    link.hosts_per_leaf = settings.hosts_per_leaf;
    link.oversubscription = settings.oversubscription;
    return link;
}

void check(const PlanSettings& settings) {
    if (settings.ranks < 1 || settings.ranks > most_ranks)
        throw UserError(fmt::format("--ranks: must be 1 to {}, is {}", most_ranks, settings.ranks));
    if (settings.ranks_per_host < 1 || settings.ranks_per_host > most_ranks)
        throw UserError(
            fmt::format("--ranks-per-host: must be 1 to {}, is {}", most_ranks, settings.ranks_per_host));
    if (settings.hosts_per_leaf < 0 || settings.hosts_per_leaf > most_ranks)
        throw UserError(
            fmt::format("--hosts-per-leaf: must be 0 to {}, is {}", most_ranks, settings.hosts_per_leaf));
    if (!(settings.oversubscription >= 1 && settings.oversubscription <= 1000))
        throw UserError(
            fmt::format("--oversubscription: must be 1 to 1000, is {}", settings.oversubscription));
    if (settings.oversubscription > 1 && settings.hosts_per_leaf == 0)
        throw UserError("--oversubscription: needs --hosts-per-leaf, one switch has no uplinks");
    if (settings.mtu < 68 || settings.mtu > 65536) // RFC 791; the largest of the loopback device
        throw UserError(fmt::format("--mtu: must be 68 to 65536, is {}", settings.mtu));
}

/// The largest all-reduce, or without one the largest bucket; nullopt when nobody would move anything.
std::optional<BucketKind> largest_bucket(const Workload& workload) {
    std::optional<BucketKind> largest;
    const auto order = [](const BucketKind& kind) {
        return std::pair(kind.collective == Collective::all_reduce, kind.bytes);
    };
    for (const WorkloadBucket& bucket : workload.later_iterations)
        if (bucket.bytes > 0 && (!largest || order(bucket) > order(*largest)))
            largest = bucket;
    return largest;
}

std::optional<BandwidthEstimate> estimate_bandwidth(const Profile& profile, const Workload& workload,
                                                    const PlanReport& report) {
    const std::optional<BucketKind> largest = largest_bucket(workload);
    if (!largest)
        return std::nullopt;
    BandwidthEstimate estimate;
    estimate.kind = *largest;
    const Group& group = workload.groups.at(largest->group);
    estimate.members =
        group.members.empty() ? report.settings.ranks : static_cast<int>(group.members.front().size());
    if (estimate.members < 2)
        return std::nullopt;
    Profile alone = without_variation(profile);
    alone.compute = {};
    alone.run.warmup = 0;
    alone.gradients.bucketing = Bucketing::explicit_list;
    Workload one = workload; // its algorithm
    one.first_iteration = one.later_iterations = {{*largest}};
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
    const auto rate = [](double bits_per_second) {
        return BitRate{static_cast<std::uint64_t>(std::llround(bits_per_second))};
    };
    const auto rates_of = [&](double mean) {
        std::vector<BitRate> rates{rate(2 * mean), rate(4 * report.link.payload_bytes_per_second())};
        rates.insert(rates.end(), report.settings.rates.begin(), report.settings.rates.end());
        return rates;
    };
    report.summary = collectors::summarize(report.trace, collectors::Direction::tx, nanoseconds::min(),
                                           nanoseconds::max(), report.settings.windows, rates_of);
}

} // namespace

double BandwidthEstimate::algorithm_bytes_per_second() const {
    return static_cast<double>(kind.bytes) / collectors::in_seconds(time);
}

double BandwidthEstimate::bus_bytes_per_second() const {
    return bus_factor(kind.collective, members) * algorithm_bytes_per_second();
}

std::uint64_t PlanReport::run_bytes() const {
    return saturating_sum(traffic.first.all_sent_bytes,
                          saturating_product(iterations - 1, traffic.later.all_sent_bytes));
}

nanoseconds PlanReport::run_time() const {
    return nanoseconds(std::llround(static_cast<double>(prediction.iteration_mean.count()) *
                                    static_cast<double>(iterations)));
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
    report.groups = workload.groups;
    report.prediction = predict(profile, workload, settings.ranks, report.link,
                                profile.run.iterations.value_or(profile.run.warmup + 20));
    report.traffic = count_traffic(profile, workload, settings.ranks, report.prediction.executed_ranks);
    count_iterations(report);
    if (!profile.background.empty())
        report.background = background_loads(profile.background, report.link.hosts);
    report.ports_per_host = std::min(settings.ranks, settings.ranks_per_host);
    report.needs = estimate_needs(
        profile, workload,
        {.world_size = settings.ranks,
         .ranks_per_host = report.ports_per_host,
         .interfaces = (settings.ranks + settings.ranks_per_host - 1) / settings.ranks_per_host,
         .line_rate = report.link.line_rate});
    add_burstiness(report);
    report.bandwidth = estimate_bandwidth(profile, workload, report);
    return report;
}

} // namespace tools
