#include "generator/results.hpp"

#include "collectors/slow_lane.hpp"
#include "collectors/trace_file.hpp"
#include "generator/interface_results.hpp"
#include "generator/link.hpp"
#include "generator/plan_book.hpp"
#include "generator/prediction.hpp"
#include "generator/switch_results.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>

namespace generator {
namespace {

constexpr std::uint64_t ethernet_overhead_bytes = 38; // header 14, FCS 4, preamble 8, gap 12
constexpr std::uint64_t shaper_overhead_bytes = 14;   // a tbf counts the header alone

std::vector<Timeline> timelines_of(const std::vector<std::optional<RankReport>>& reports) {
    std::vector<Timeline> timelines;
    for (std::size_t rank = 0; rank < reports.size(); ++rank) {
        timelines.push_back(reports[rank] ? reports[rank]->timeline : Timeline{});
        timelines.back().rank = static_cast<int>(rank);
    }
    return timelines;
}

std::string tcp_csv_of(const std::vector<std::optional<RankReport>>& reports) {
    std::vector<std::string_view> lines;
    for (const std::optional<RankReport>& report : reports)
        if (report)
            lines.push_back(report->tcp_lines);
    return tcp_csv(lines);
}

std::vector<TcpLog> tcp_logs_of(const std::vector<std::optional<RankReport>>& reports) {
    std::vector<TcpLog> logs;
    for (const std::optional<RankReport>& report : reports)
        if (report)
            logs.push_back(parse_tcp_lines(report->tcp_lines));
    return logs;
}

/// Ranks by the interface that carries their traffic.
std::map<std::pair<std::string, std::string>, std::vector<int>> ranks_by_interface(const RunRecord& record) {
    std::map<std::pair<std::string, std::string>, std::vector<int>> groups;
    for (std::size_t rank = 0; rank < record.ranks.size(); ++rank)
        groups[{record.ranks[rank].addresses.network, record.endpoints[rank].interface}].push_back(
            static_cast<int>(rank));
    return groups;
}

bool is_loopback(const RunRecord& record, const std::string& interface) {
    for (const InterfaceAddress& address : record.ranks[0].addresses.addresses)
        if (address.interface == interface)
            return address.loopback;
    return false;
}

RankCpu rank_cpu(const RankReport& report) {
    RankCpu cpu;
    for (const RecordedTrace& trace : report.traces)
        cpu.sampler += trace.sampler_cpu_share;
    if (report.traffic_seconds > 0)
        cpu.rank = std::max(0.0, report.cpu_seconds / report.traffic_seconds - cpu.sampler);
    return cpu;
}

/// A run that something held up is not the run that was planned, though each number of it may be right.
void warn_of_disturbance(RunRecord& record) {
    const std::optional<Distribution>& iterations = record.statistics.iteration_seconds;
    if (iterations && iterations->max > 1.5 * iterations->p50)
        record.warnings.push_back(
            fmt::format("UNEVEN ITERATIONS: the longest took {:.3f} s, {:.1f} times the median; the "
                        "mean rate, and with it every PtM, contains it",
                        iterations->max, iterations->max / iterations->p50));
    const std::optional<Distribution>& late = record.statistics.lateness_seconds;
    const std::optional<Distribution> buckets = record.statistics.of(Collective::all_reduce).seconds;
    if (late && buckets && record.ranks.size() > 1 && late->p99 > buckets->p50)
        record.warnings.push_back(
            fmt::format("LATE STARTS: p99 of start lateness, {:.3f} ms, is longer than a typical "
                        "all-reduce: ranks waited for CPU time",
                        1e3 * late->p99));
}

void warn_of_full_tcp_log(RunRecord& record, const std::vector<std::optional<RankReport>>& reports) {
    std::optional<std::uint32_t> from;
    for (const std::optional<RankReport>& report : reports)
        if (report && report->tcp_left_out_from)
            from = std::min(from.value_or(*report->tcp_left_out_from), *report->tcp_left_out_from);
    if (from)
        record.warnings.push_back(fmt::format("TCP.CSV ENDS EARLY: a rank keeps {} lines; iterations from {} "
                                              "on are not all in it, nor in the figures of tcp",
                                              most_tcp_records, *from));
}

/// Ranks of one host talk through its kernel, whatever interface they are given.
void warn_of_idle_interfaces(RunRecord& record) {
    const bool idle = std::all_of(record.interfaces.begin(), record.interfaces.end(),
                                  [](const InterfaceResult& each) { return each.summary.nic_bytes == 0; });
    if (idle && !record.interfaces.empty() && record.statistics.sent_bytes > 0)
        record.warnings.push_back(
            "NOTHING CROSSED THE INTERFACES that were sampled: ranks of one host talk over its loopback "
            "interface, whatever --iface says (--iface lo samples that)");
}

void warn_of_deviation(RunRecord& record) {
    constexpr double noteworthy = 0.2;
    for (const InterfaceResult& result : record.interfaces)
        for (std::size_t i = 0; i < result.predicted_ratios.size(); ++i) {
            const collectors::BurstinessPoint& point = result.summary.curve.points[i];
            if (!point.resolved || !result.predicted_ratios[i] || result.summary.nic_bytes == 0)
                continue;
            const double deviation =
                collectors::peak_to_mean(result.summary.curve, point).estimate / *result.predicted_ratios[i] -
                1;
            if (std::abs(deviation) > noteworthy) {
                record.warnings.push_back(fmt::format(
                    "FAR FROM PREDICTION: PtM({}) of {} {} {} is {:+.0f} % off: links, queues, CPUs or other "
                    "traffic are not what the model assumes (fair shares, no queue between hosts, no loss)",
                    collectors::format_duration(point.window), result.summary.host, result.summary.interface,
                    collectors::to_text(result.summary.direction), 100 * deviation));
                return; // one says it
            }
        }
}

/// A file that cannot be written is said on standard error, once, and becomes one of the `unwritten`.
void write(const RunDirectory& directory, const std::string& name, std::string_view content,
           std::vector<std::string>& unwritten) {
    try {
        directory.write(name, content);
    } catch (const std::exception& error) {
        if (std::find(unwritten.begin(), unwritten.end(), name) != unwritten.end())
            return;
        unwritten.push_back(name);
        fmt::print(stderr, "gradburst: {}\n", error.what());
    }
}

/// "kept in run: run.json, timeline.csv, nic/", and what is not as it should be there.
std::string kept_text(const RunDirectory& directory, const std::vector<std::string>& unwritten) {
    std::vector<std::string> whole = directory.kept();
    const bool stale_record =
        std::erase_if(whole, [&](const std::string& name) {
            return std::find(unwritten.begin(), unwritten.end(), name) != unwritten.end();
        }) > 0;
    std::string text = fmt::format("kept in {}: {}\n", directory.path().string(), fmt::join(whole, ", "));
    if (!unwritten.empty())
        text += fmt::format("NOT WRITTEN: {}{}\n", fmt::join(unwritten, ", "),
                            stale_record ? "; the run.json that is there is from before the metrics" : "");
    return text;
}

/// Each interface that was sampled, and its trace.
struct SampledInterface {
    std::string host;
    std::string interface;
    std::vector<int> ranks; ///< of the job, whose traffic it carries
    std::string network;    ///< namespace of the host
    std::string trace;      ///< relative to the folder of the traces
};

std::vector<SampledInterface> sampled_interfaces(const RunRecord& record) {
    std::vector<SampledInterface> sampled;
    for (const auto& [key, ranks] : ranks_by_interface(record)) {
        const std::string& host = record.ranks[static_cast<std::size_t>(ranks.front())].addresses.host;
        sampled.push_back(
            {host, key.second, ranks, key.first, fmt::format("nic/{}.{}.csv", host, key.second)});
    }
    return sampled;
}

/// What the other jobs send over the same interface.
std::vector<OtherTraffic> others_on(const SampledInterface& place,
                                    const std::vector<const JobResult*>& others) {
    std::vector<OtherTraffic> traffic;
    for (const JobResult* const job : others) {
        const auto groups = ranks_by_interface(job->record);
        const auto here = groups.find({place.network, place.interface});
        if (here == groups.end())
            continue;
        OtherTraffic other{
            job->record.job, &job->workload, static_cast<int>(job->record.ranks.size()), here->second, {}};
        for (const int rank : here->second) {
            const std::optional<RankReport>& report = job->reports[static_cast<std::size_t>(rank)];
            other.timelines.push_back(report ? &report->timeline : nullptr);
        }
        traffic.push_back(std::move(other));
    }
    return traffic;
}

/// By the plans of all jobs: the hosts that send to each host.
std::map<std::string, std::set<std::string>> senders_by_host(const JobResult& job,
                                                             const std::vector<const JobResult*>& others) {
    std::map<std::string, std::set<std::string>> senders;
    add_senders(senders, job.record, job.workload);
    for (const JobResult* const other : others)
        add_senders(senders, other->record, other->workload);
    return senders;
}

std::vector<InterfaceTrace> traces_of(const JobResult& job, const std::vector<const JobResult*>& others,
                                      const TraceFolder& folder) {
    std::vector<InterfaceTrace> traces;
    for (const SampledInterface& each : sampled_interfaces(job.record)) {
        if (!folder.files.contains(each.trace))
            continue;
        // Any rank of the host tells when the iterations were.
        std::vector<int> ranks = each.ranks;
        std::stable_partition(ranks.begin(), ranks.end(), [&](int rank) {
            return job.reports[static_cast<std::size_t>(rank)].has_value();
        });
        if (job.reports[static_cast<std::size_t>(ranks.front())])
            traces.push_back({folder.path / each.trace, std::move(ranks),
                              is_loopback(job.record, each.interface), others_on(each, others)});
    }
    return traces;
}

void add_slow_lanes(RunRecord& record, const TraceFolder& folder) {
    for (const SampledInterface& each : sampled_interfaces(record)) {
        const std::string file = collectors::slow_path(each.trace).string();
        if (!folder.files.contains(file))
            continue;
        try {
            record.slow_lanes.push_back(
                {each.host, each.interface, file, collectors::slow_totals(folder.path / file)});
        } catch (const std::exception& error) {
            record.warnings.push_back(fmt::format("DROPS AND RETRANSMITS OF {} {} CANNOT BE READ: {}",
                                                  each.host, each.interface, error.what()));
        }
    }
}

bool on_one_network(const RunRecord& record) {
    return std::all_of(record.ranks.begin(), record.ranks.end(), [&](const HostFacts& facts) {
        return facts.addresses.network == record.ranks[0].addresses.network;
    });
}

/// PtM for each standard window.
std::vector<std::optional<double>> ratios(std::span<const collectors::Reading> readings) {
    std::vector<std::optional<double>> values;
    const collectors::BurstinessCurve curve =
        collectors::burstiness_curve(readings, collectors::standard_windows());
    for (const collectors::BurstinessPoint& point : curve.points)
        values.push_back(point.resolved ? std::optional(collectors::peak_to_mean(curve, point).estimate)
                                        : std::nullopt);
    return values;
}

/// The fluid model beside each measured number that it explains: those of an interface that other jobs share
/// it does not.
void add_prediction(RunRecord& record, const Workload& workload) {
    const std::optional<Prediction> prediction =
        record.statistics.finished_iterations == 0
            ? std::nullopt
            : predicted_alone(record, workload, record.statistics.finished_iterations);
    if (!prediction)
        return;
    const bool one_network = on_one_network(record);
    record.predicted_iteration_seconds = 1e-9 * static_cast<double>(prediction->iteration_mean.count());
    for (InterfaceResult& result : record.interfaces) {
        if (!result.shared_with.empty())
            continue;
        const auto readings = collectors::readings(predicted_trace(*prediction, result.ranks, one_network),
                                                   result.summary.direction);
        result.predicted_ratios = ratios(readings);
        for (const collectors::BacklogPoint& point : result.summary.backlog)
            result.predicted_backlog_bytes.push_back(collectors::max_backlog(readings, point.rate).estimate);
    }
    const bool shared = std::any_of(record.interfaces.begin(), record.interfaces.end(),
                                    [](const InterfaceResult& each) { return !each.shared_with.empty(); });
    for (SwitchPortResult& port :
         record.switch_ports) // what leaves through the port is what its host receives
        if (!shared)
            port.predicted_ratios = ratios(
                collectors::readings(predicted_trace(*prediction, port.ranks), collectors::Direction::rx));
}

} // namespace

std::optional<Prediction> predicted_alone(const RunRecord& record, const Workload& workload,
                                          std::uint32_t iterations) {
    if (!record.line_rate || record.ranks.size() < 2)
        return std::nullopt;
    const Link link = link_of(record.endpoints[0].interface);
    LinkModel model;
    model.line_rate = *record.line_rate;
    model.goodput_share =
        goodput_share(link.mtu, link.speed ? ethernet_overhead_bytes : shaper_overhead_bytes);
    if (!on_one_network(record)) // on loopback, predict what the ranks would do with a link each
        model.hosts = workload.hosts;
    return predict(record.profile, workload, static_cast<int>(record.ranks.size()), model, iterations);
}

std::vector<std::string> keep_remote_traces(const std::vector<std::optional<RankReport>>& reports,
                                            const RunDirectory& directory) {
    std::vector<std::string> unwritten;
    for (const std::optional<RankReport>& report : reports)
        if (report)
            for (const RecordedTrace& trace : report->traces)
                if (!trace.csv.empty()) {
                    write(directory, trace.file, trace.csv, unwritten);
                    write(directory, collectors::sidecar_path(trace.file).string(), trace.sidecar, unwritten);
                }
    return unwritten;
}

void add_reports(JobResult& job) {
    RunRecord& record = job.record;
    const std::vector<std::optional<RankReport>>& reports = job.reports;
    const Workload& workload = job.workload;
    const RunEnd end = run_end(reports, record.endpoints);
    record.status = end.status;
    record.error = end.error;
    for (const std::optional<RankReport>& report : reports) {
        record.clocks.push_back(report ? report->clock : ControlPlane::ClockOffset{});
        record.checked_elements += report ? report->checked_elements : 0;
        record.cpu.push_back(report ? rank_cpu(*report) : RankCpu{});
        if (report)
            record.warnings.insert(record.warnings.end(), report->warnings.begin(), report->warnings.end());
    }
    const SocketSettings& asked = record.profile.network.sockets;
    for (std::size_t rank = 0; rank < reports.size(); ++rank)
        if (reports[rank])
            add_use(record.sockets, static_cast<int>(rank), reports[rank]->sockets, asked);
    for (std::string& warning : socket_warnings(record.sockets, asked))
        record.warnings.push_back(std::move(warning));
    const int world_size = static_cast<int>(record.ranks.size());
    std::vector<Timeline> answered;
    std::vector<std::size_t> missing;
    for (std::size_t rank = 0; rank < reports.size(); ++rank)
        if (reports[rank])
            answered.push_back(reports[rank]->timeline);
        else
            missing.push_back(rank);
    if (!missing.empty())
        record.warnings.push_back(
            fmt::format("ONLY {} OF {} RANKS ANSWERED: all figures are theirs; the timeline "
                        "and perhaps the trace are missing of rank {}",
                        answered.size(), reports.size(), fmt::join(missing, ", ")));
    record.statistics = run_statistics(answered, workload, world_size, record.profile.run.warmup);
    record.planned_bytes = 0;
    for (const Timeline& timeline : answered)
        *record.planned_bytes +=
            planned_bytes(workload, timeline.rank, world_size, record.statistics.finished_iterations);
    warn_of_disturbance(record);
    warn_of_full_tcp_log(record, reports);
}

void add_interfaces(JobResult& job, const std::vector<const JobResult*>& others,
                    const std::vector<SwitchPortTrace>& switch_traces, const TraceFolder& traces) {
    RunRecord& record = job.record;
    add_slow_lanes(record, traces);
    try {
        record.tcp = tcp_result(tcp_logs_of(job.reports), record.profile.run.warmup);
        const std::vector<Timeline> timelines = timelines_of(job.reports);
        record.interfaces =
            interface_results(traces_of(job, others, traces), timelines, job.workload, record.statistics,
                              record.profile.run.warmup, record.line_rate, record.warnings);
        record.switch_ports =
            switch_results(switch_traces, traces.path, timelines, senders_by_host(job, others), record);
        try {
            add_prediction(record, job.workload);
        } catch (const UserError& error) {
            record.warnings.push_back(fmt::format("NO PREDICTION: {}", error.what()));
        }
        warn_of_idle_interfaces(record);
        warn_of_deviation(record);
    } catch (const std::exception& error) {
        record.warnings.push_back(fmt::format("NO BURST METRICS: {}", error.what()));
    }
}

RunRecord without_metrics(RunRecord record, std::string_view why) {
    record.warnings.push_back(
        fmt::format("NO METRICS: {} before they were computed; gradburst-collect report "
                    "computes them from the counters in nic/",
                    why));
    if (record.status == RunStatus::complete) {
        record.status = RunStatus::interrupted;
        record.error = fmt::format("{} after all iterations, before the metrics were computed", why);
    }
    return record;
}

std::vector<std::string> keep(const RunRecord& record, const std::vector<std::optional<RankReport>>& reports,
                              const RunDirectory& directory) {
    std::vector<std::string> unwritten;
    write(directory, "run.json",
          run_json(without_metrics(record, "rank 0 was killed, or could not write (disk full?),")),
          unwritten);
    write(directory, "timeline.csv", timeline_csv(timelines_of(reports)), unwritten);
    if (record.profile.sampling.tcp_info)
        write(directory, "tcp.csv", tcp_csv_of(reports), unwritten);
    return unwritten;
}

int publish(const RunRecord& record, const RunDirectory& directory, std::vector<std::string> unwritten) {
    const std::string json = run_json(record);
    // A full disk must not take the text from the terminal.
    write(directory, "run.json", json, unwritten);
    write(directory, "metrics.prom", prometheus_text(record), unwritten);
    if (!record.profile.run.json)
        fmt::print("{}", in_front(record.job, result_text(record, directory.path().string()) +
                                                  kept_text(directory, unwritten)));
    else if (record.job.empty())
        fmt::print("{}", json);
    std::fflush(stdout);
    if (!record.error.empty())
        fmt::print(stderr, "gradburst: {}{}\n", record.job.empty() ? "" : record.job + ": ", record.error);
    if (!unwritten.empty())
        return our_failure;
    return record.status == RunStatus::complete      ? success
           : record.status == RunStatus::interrupted ? interrupted
                                                     : our_failure;
}

} // namespace generator
