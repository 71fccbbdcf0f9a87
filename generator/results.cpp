#include "generator/results.hpp"

#include "collectors/printable.hpp"
#include "collectors/slow_lane.hpp"
#include "collectors/trace_file.hpp"
#include "generator/interface_results.hpp"
#include "generator/plan_book.hpp"
#include "generator/predicted_results.hpp"
#include "generator/run_warnings.hpp"
#include "generator/switch_results.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>

namespace generator {
namespace {

/// All on the clock of the host of the launch's rank 0, from the start of the job's rank 0 on: for whatever
/// sets ranks of several hosts side by side.
std::vector<Timeline> aligned_timelines(const RunRecord& record,
                                        const std::vector<std::optional<RankReport>>& reports) {
    std::vector<Timeline> timelines = timelines_of(reports);
    std::int64_t origin_ns = timelines.empty() ? 0 : timelines[0].start_monotonic_ns;
    if (!record.clocks.empty())
        origin_ns += record.clocks[0].offset_at(origin_ns).count();
    for (std::size_t rank = 0; rank < timelines.size() && rank < record.clocks.size(); ++rank)
        timelines[rank] = aligned(std::move(timelines[rank]), record.clocks[rank], origin_ns);
    return timelines;
}

std::vector<TcpLog> tcp_logs_of(const std::vector<std::optional<RankReport>>& reports) {
    std::vector<TcpLog> logs;
    for (const std::optional<RankReport>& report : reports)
        if (report) {
            logs.push_back(parse_tcp_lines(report->tcp_lines));
            logs.back().left_out_from = report->tcp_left_out_from;
        }
    return logs;
}

/// Joins both ends of each flow of the background traffic.
void add_background(JobResult& job) {
    RunRecord& record = job.record;
    if (record.profile.background.empty())
        return;
    std::vector<RankBackground> ranks;
    for (std::size_t rank = 0; rank < job.reports.size(); ++rank) {
        std::optional<RankReport>& report = job.reports[rank];
        ranks.push_back({.clock = rank < record.clocks.size() ? record.clocks[rank] : ClockAlignment{}});
        if (!report)
            continue;
        ranks.back().report = std::move(report->background);
        ranks.back().start_monotonic_ns = report->timeline.start_monotonic_ns;
    }
    job.background = flow_records(record.profile, std::move(ranks));
    record.background =
        background_results(job.background, record.profile, static_cast<int>(record.ranks.size()));
    for (std::string& warning : background_warnings(record.background, record.profile.background))
        record.warnings.push_back(std::move(warning));
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
            job->record.job, &job->workload, static_cast<int>(job->record.ranks.size()), here->second, {},
            &job->background};
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
                              is_loopback(job.record, each.interface), others_on(each, others),
                              &job.background});
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

} // namespace

std::vector<Timeline> timelines_of(const std::vector<std::optional<RankReport>>& reports) {
    std::vector<Timeline> timelines;
    for (std::size_t rank = 0; rank < reports.size(); ++rank) {
        timelines.push_back(reports[rank] ? reports[rank]->timeline : Timeline{});
        timelines.back().rank = static_cast<int>(rank);
    }
    return timelines;
}

void add_reports(JobResult& job) {
    RunRecord& record = job.record;
    const std::vector<std::optional<RankReport>>& reports = job.reports;
    const Workload& workload = job.workload;
    const RunEnd end = run_end(reports, record.endpoints);
    record.status = end.status;
    record.error = end.error;
    for (const std::optional<RankReport>& report : reports) {
        record.start_monotonic_ns.push_back(report ? std::optional(report->timeline.start_monotonic_ns)
                                                   : std::nullopt);
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
    const std::vector<Timeline> timelines = aligned_timelines(record, reports);
    std::vector<Timeline> answered;
    std::vector<std::size_t> missing;
    for (std::size_t rank = 0; rank < reports.size(); ++rank)
        if (reports[rank])
            answered.push_back(timelines[rank]);
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
    add_background(job);
    warn_of_disturbance(record);
    warn_of_full_tcp_log(record, reports);
}

void add_interfaces(JobResult& job, const std::vector<const JobResult*>& others,
                    const std::vector<SwitchPortTrace>& switch_traces, const TraceFolder& traces) {
    RunRecord& record = job.record;
    add_slow_lanes(record, traces);
    try {
        record.tcp = tcp_result(tcp_logs_of(job.reports), record.profile.run.warmup);
        record.interfaces = interface_results(traces_of(job, others, traces), timelines_of(job.reports),
                                              job.workload, record.statistics, record.profile.run.warmup,
                                              {record.line_rate, expectations_of(record)}, record.warnings);
        record.switch_ports =
            switch_results(switch_traces, traces.path, aligned_timelines(record, job.reports),
                           senders_by_host(job, others), record);
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

} // namespace generator
