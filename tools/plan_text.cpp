#include "generator/background_results.hpp"
#include "generator/bus_bandwidth.hpp"
#include "generator/collective_text.hpp"
#include "generator/saturating.hpp"
#include "tools/plan_report.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

namespace tools {
namespace {

using namespace collectors;
using generator::collective_name;
using Text = fmt::memory_buffer;

template <typename... Arguments>
void line(Text& text, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(text), format, std::forward<Arguments>(arguments)...);
    text.push_back('\n');
}

std::string count_text(const Range& range) {
    return range.least == range.most ? fmt::format("{}", range.least)
                                     : fmt::format("{} to {}", range.least, range.most);
}

std::string bytes_text(const Range& range) {
    const auto shown = [](std::uint64_t bytes) { return format_bytes(static_cast<double>(bytes)); };
    return range.least == range.most ? fmt::format("{} ({} B)", shown(range.least), range.least)
                                     : fmt::format("{} to {} ({} to {} B)", shown(range.least),
                                                   shown(range.most), range.least, range.most);
}

void add_link(Text& text, const PlanReport& report) {
    const PlanSettings& settings = report.settings;
    line(text, "profile     {}: {}", report.profile.name,
         report.profile.description.empty() ? "no description" : report.profile.description);
    line(text, "collective  {}", generator::collective_text(report.profile.collective));
    line(text, "ranks       {}, {} per host", settings.ranks, settings.ranks_per_host);
    line(text, "line rate   C = {} in each direction of each NIC",
         format_bit_rate(static_cast<double>(report.link.line_rate.bits_per_second)));
    if (settings.hosts_per_leaf > 0)
        line(text,
             "switches    leaves of {} hosts; up to the spine and down {} per leaf: oversubscribed {:g}:1",
             settings.hosts_per_leaf,
             format_bit_rate(settings.hosts_per_leaf *
                             static_cast<double>(report.link.line_rate.bits_per_second) /
                             settings.oversubscription),
             settings.oversubscription);
    if (settings.ideal)
        line(text, "payload     {}: the whole line rate (--ideal)",
             format_bit_rate(8 * report.link.payload_bytes_per_second()));
    else
        line(text, "payload     {}: share {:.4f} = (MTU - 52) / (MTU + 38), MTU {} bytes",
             format_bit_rate(8 * report.link.payload_bytes_per_second()), report.link.goodput_share,
             settings.mtu);
    line(text, "latency     {} from a last byte until what depends on it goes (assumed)",
         format_duration(settings.step_latency));
    const generator::ScaleSettings& scale = report.profile.scale;
    if (scale.reference_rate)
        line(text, "scale       bytes x {:g} = {:g} x line rate / reference rate {}; times x {:g}",
             report.byte_scale, scale.bytes,
             format_bit_rate(static_cast<double>(scale.reference_rate->bits_per_second)), scale.time);
    else
        line(text, "scale       bytes x {:g}, times x {:g} (no reference rate in the profile)",
             report.byte_scale, scale.time);
}

void add_groups(Text& text, const PlanReport& report) {
    if (report.groups.size() < 2)
        return;
    line(text, "\ngroups of ranks, each with connections and queues of its own");
    for (const generator::Group& group : report.groups) {
        if (group.members.empty()) {
            line(text, "  {:<16} all ranks", group.name);
            continue;
        }
        std::vector<std::string> shown;
        for (const std::vector<int>& members : group.members)
            if (shown.size() < 4)
                shown.push_back(fmt::format("{}", fmt::join(members, " ")));
        line(text, "  {:<16} {} of {} ranks: {}{}", group.name, group.members.size(),
             group.members.front().size(), fmt::join(shown, ", "),
             shown.size() < group.members.size() ? ", ..." : "");
    }
}

void add_iteration(Text& text, const std::string& which, const IterationPlan& plan, bool shows_groups) {
    constexpr std::size_t most_shown = 40;
    line(text, "\n{}", which);
    line(text, "  {:>6}  {:<14} {:>12} {:>12} {:>8}  {:<14} {}", "bucket", "collective", "size", "bytes",
         "tensors", "ready after", shows_groups ? "group" : "");
    for (std::size_t i = 0; i < std::min(plan.buckets.size(), most_shown); ++i) {
        const BucketRow& bucket = plan.buckets[i];
        line(text, "  {:>6}  {:<14} {:>12} {:>12} {:>8}  {:<14} {}", i, collective_name(bucket.collective),
             format_bytes(static_cast<double>(bucket.bytes)), bucket.bytes,
             bucket.tensors == 0 ? std::string("-") : std::to_string(bucket.tensors),
             format_duration(bucket.ready_after), shows_groups ? bucket.group : "");
    }
    if (plan.buckets.size() > most_shown)
        line(text, "  ... and {} more (--json has all)", plan.buckets.size() - most_shown);
    for (const CollectiveRow& row : plan.collectives)
        line(text, "  {} x {}{}: {} ({} B)", row.count, collective_name(row.collective),
             shows_groups ? " in group " + row.group : "", format_bytes(static_cast<double>(row.bytes)),
             row.bytes);
    line(text, "  each rank sends {} in {} transfers (counted in the plans)", bytes_text(plan.sent_bytes),
         count_text(plan.transfers));
}

void add_run(Text& text, const PlanReport& report, const generator::FreeSpace& free) {
    line(text, "\nrun");
    line(text, "  {:<20}{}{}", "iterations", report.iterations,
         report.iterations_estimated ? " (duration / predicted iteration time)" : "");
    line(text, "  {:<20}{} ({}) by all ranks (payload, counted in the plans)", "sent",
         generator::size_text(report.run_bytes()), generator::bytes_in_full(report.run_bytes()));
    const ConnectionCount& connections = report.traffic.connections;
    line(text, "  {:<20}{} per rank, {} come in; {} in all, each carries payload one way",
         "connections opened", count_text(connections.outgoing), count_text(connections.incoming),
         connections.all);
    if (report.traffic.counted_ranks < report.settings.ranks)
        line(text, "  {:<20}on {} of {} ranks, the others are alike", "counted", report.traffic.counted_ranks,
             report.settings.ranks);
    line(text, "  {:<20}{} per host, one per rank{}", "listening ports", report.ports_per_host,
         report.profile.network.ports.first == 0 ? ", chosen by the kernel (network.ports)" : "");
    line(text, "  {:<20}about {} on a host, beside the programs themselves", "memory",
         generator::size_text(report.needs.memory.likely));
    line(text, "  {:<20}about {} in the run directory: NIC traces and timeline", "disk",
         generator::size_text(report.needs.disk.likely));
    for (const std::string& warning : space_warnings(report.needs, free))
        line(text, "  WARNING: on a host like this one: {}", warning);
}

void add_background(Text& text, const PlanReport& report) {
    constexpr std::size_t most_shown = 16;
    if (report.background.empty())
        return;
    const double seconds = collectors::in_seconds(report.run_time());
    line(text, "\nbackground traffic between hosts, on average, in no other number here");
    for (const std::string& entry :
         generator::background_settings(report.profile.background, report.settings.ranks))
        line(text, "  {}", entry);
    for (std::size_t i = 0; i < std::min(report.background.size(), most_shown); ++i)
        line(text, "  {:<20}offers {} ({} in the predicted {}), receives {} ({})", fmt::format("host {}", i),
             format_bit_rate(report.background[i].sent),
             format_bytes(report.background[i].sent / 8 * seconds), format_duration(report.run_time()),
             format_bit_rate(report.background[i].received),
             format_bytes(report.background[i].received / 8 * seconds));
    if (report.background.size() > most_shown)
        line(text, "  ... and {} more (--json has all)", report.background.size() - most_shown);
}

void add_times(Text& text, const PlanReport& report) {
    const generator::Prediction& prediction = report.prediction;
    line(text, "\npredicted by the fluid model: plans of {}, ports shared max-min fairly",
         prediction.executed_ranks == prediction.world_size ? "all ranks"
         : prediction.executed_ranks == 1
             ? "one rank that stands for all, which are alike"
             : fmt::format("{} ranks that stand for all blocks, which are alike", prediction.executed_ranks));
    if (!prediction.left_out.empty())
        line(text, "  left out: {} kinds of bucket in which ranks are not alike, at most 1 % of the bytes",
             prediction.left_out.size());
    line(text, "  {:<20}{} (slowest rank, mean of {} after {} of warm-up)", "iteration time",
         format_duration(prediction.iteration_mean), prediction.iteration_times.size() - prediction.warmup,
         prediction.warmup);
    line(text, "  {:<20}{} (a host's payload of one iteration at line rate, without pauses)",
         "burst length L", format_duration(report.burst_length()));
    if (!report.bandwidth)
        return;
    const BandwidthEstimate& bandwidth = *report.bandwidth;
    const double bus = bandwidth.bus_bytes_per_second();
    const bool all_reduce = bandwidth.kind.collective == generator::Collective::all_reduce;
    line(text, "  {:<20}{} for S = {}, the largest, alone",
         all_reduce ? "all-reduce time t"
                    : fmt::format("{} time t", collective_name(bandwidth.kind.collective)),
         format_duration(bandwidth.time), format_bytes(static_cast<double>(bandwidth.kind.bytes)));
    line(text, "  {:<20}{}/s = S / t", "algorithm bandwidth",
         format_bytes(bandwidth.algorithm_bytes_per_second()));
    line(text, "  {:<20}{}/s = {} = {} x S / t, as nccl-tests define it; {:.1f} % of C", "bus bandwidth",
         format_bytes(bus), format_bit_rate(8 * bus),
         all_reduce
             ? "2(N-1)/N"
             : fmt::format("{:.4g}", generator::bus_factor(bandwidth.kind.collective, bandwidth.members)),
         100 * bus / report.link.line_rate.bytes_per_second());
}

void add_burstiness(Text& text, const PlanReport& report) {
    const InterfaceSummary& summary = report.summary;
    line(text, "\nburstiness of what host 0 sends{} (payload, {} after warm-up)",
         report.loopback ? " over loopback, for all ranks are on one host" : " into its NIC",
         format_duration(summary.curve.span));
    if (summary.nic_bytes == 0)
        return line(text, "  no traffic");
    line(text, "  mean rate {} = bytes / time", format_bit_rate(summary.mean_bits_per_second));
    line(text, "  {:>8}  {:>12}  {:>8}", "tau", "E(tau)", "PtM(tau)");
    for (const BurstinessPoint& point : summary.curve.points) {
        if (point.resolved)
            line(text, "  {:>8}  {:>12}  {:>8.2f}", format_duration(point.window),
                 format_bytes(point.bytes.estimate), peak_to_mean(summary.curve, point).estimate);
        else
            line(text, "  {:>8}  {:>12}", format_duration(point.window), "longer than the prediction");
    }
    line(text, "  E: most bytes in any window of length tau; PtM = E / (tau x mean rate)");
    line(text, "  B_max(r), the largest queue before a link that carries payload at r:");
    for (std::size_t i = 0; i < summary.backlog.size(); ++i)
        line(text, "  {:>16}  {:>12}{}",
             format_bit_rate(static_cast<double>(summary.backlog[i].rate.bits_per_second)),
             format_bytes(summary.backlog[i].bytes.estimate),
             i == 0   ? "  r = 2 x mean rate"
             : i == 1 ? "  r = half of the payload rate of C"
                      : "  r from --rate");
}

} // namespace

std::string report_text(const PlanReport& report, const generator::FreeSpace& free) {
    Text text;
    add_link(text, report);
    const bool shows_groups = report.groups.size() > 1;
    add_groups(text, report);
    add_iteration(text, "iteration 0", report.traffic.first, shows_groups);
    add_iteration(text, "iterations from 1 on", report.traffic.later, shows_groups);
    add_run(text, report, free);
    add_background(text, report);
    add_times(text, report);
    add_burstiness(text, report);
    line(text,
         "\nThe model knows no loss, slow start or CPU time: between hosts a real run is at best as fast.{}",
         report.settings.ranks_per_host > 1
             ? " Within a\nhost the model gives each rank the rate of the NIC; a real run is faster there."
             : "");
    return fmt::to_string(text);
}

} // namespace tools
