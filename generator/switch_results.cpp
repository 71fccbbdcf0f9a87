#include "generator/switch_results.hpp"

#include "collectors/trace_file.hpp"
#include "collectors/units.hpp"
#include "generator/plan_book.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace generator {
namespace {

using collectors::Direction;

constexpr nanoseconds bin_length = std::chrono::milliseconds(1);
constexpr double active_share = 0.05; ///< of the line rate; acknowledgements stay below 3 %

struct Span { ///< CLOCK_MONOTONIC of rank 0's host, which sampled the switch
    std::int64_t from_ns = 0;
    std::int64_t to_ns = 0;
};

/// From the moment at which every rank has begun the first measured iteration until the last rank has ended
/// the last one: what a server has handed to its sockets still travels when its own iteration is over.
std::optional<Span> measured_span(const RunRecord& record, const std::vector<Timeline>& timelines) {
    const RunStatistics& statistics = record.statistics;
    const std::uint32_t last = statistics.finished_iterations;
    const std::uint32_t first = statistics.measured_iterations > 0 ? record.profile.run.warmup : 0;
    if (first >= last)
        return std::nullopt;
    Span span;
    for (const Timeline& timeline : timelines) {
        if (timeline.iterations.size() < last)
            return std::nullopt;
        span.from_ns =
            std::max(span.from_ns, timeline.start_monotonic_ns + timeline.iterations[first].start_ns);
        span.to_ns = std::max(span.to_ns, timeline.start_monotonic_ns + timeline.iterations[last - 1].end_ns);
    }
    return span;
}

std::map<std::string, std::vector<int>> ranks_by_host(const RunRecord& record) {
    std::map<std::string, std::vector<int>> hosts;
    for (std::size_t rank = 0; rank < record.ranks.size(); ++rank)
        hosts[record.ranks[rank].addresses.host].push_back(static_cast<int>(rank));
    return hosts;
}

void add_queue(SwitchPortResult& result, const collectors::QueueTrace& trace, Span span) {
    std::optional<std::uint64_t> drops_before;
    result.queue_kind = trace.kind;
    for (const collectors::QueueSample& sample : trace.samples) {
        const std::int64_t at = trace.start_monotonic_ns + sample.t_ns;
        if (at < span.from_ns || !drops_before)
            drops_before = sample.drops;
        if (at < span.from_ns || at > span.to_ns)
            continue;
        ++result.queue_samples;
        result.max_backlog_bytes = std::max(result.max_backlog_bytes, sample.backlog_bytes);
        result.drops = sample.drops - *drops_before;
    }
}

void add_senders(SwitchPortResult& result, const std::vector<std::vector<double>>& senders,
                 double line_bytes_per_bin) {
    std::vector<int> busy;
    for (const int count : active_senders(senders, active_share * line_bytes_per_bin))
        if (count > 0)
            busy.push_back(count);
    if (busy.empty())
        return;
    std::sort(busy.begin(), busy.end());
    result.most_active_senders = busy.back();
    result.typical_active_senders = busy[busy.size() / 2];
}

bool sends(const std::string& host, const std::map<std::string, std::set<std::string>>& senders_to) {
    return std::any_of(senders_to.begin(), senders_to.end(),
                       [&](const auto& each) { return each.second.contains(host); });
}

/// The line rate; when it is not known, the most that any bin saw.
double line_bytes_per_bin(const RunRecord& record, const std::map<std::string, std::vector<double>>& bins) {
    if (record.line_rate)
        return record.line_rate->bytes_per_second() * collectors::in_seconds(bin_length);
    double most = 0;
    for (const auto& [host, values] : bins)
        for (const double value : values)
            most = std::max(most, value);
    return most;
}

} // namespace

std::vector<double> bin_bytes(const collectors::Trace& trace, Direction direction, std::int64_t from_ns,
                              std::int64_t to_ns, nanoseconds bin) {
    const std::vector<collectors::Reading> readings = collectors::readings(trace, direction);
    std::vector<double> bins(
        static_cast<std::size_t>(std::max<std::int64_t>(0, (to_ns - from_ns) / bin.count())));
    const auto instant = [&](const collectors::Reading& reading) {
        return static_cast<double>(trace.info.start_monotonic_ns - from_ns +
                                   (reading.begin_ns + reading.end_ns) / 2);
    };
    const auto length = static_cast<double>(bin.count());
    for (std::size_t i = 1; i < readings.size(); ++i) {
        if (readings[i].new_segment || readings[i].bytes <= readings[i - 1].bytes)
            continue;
        const double begin = instant(readings[i - 1]);
        const double end = std::max(instant(readings[i]), begin + 1);
        if (end - begin > 2 * length)
            continue; // a gap: when these bytes came is not known
        const double rate = static_cast<double>(readings[i].bytes - readings[i - 1].bytes) / (end - begin);
        const double first = std::max(0.0, std::floor(begin / length));
        for (double number = first; number * length < end && number < static_cast<double>(bins.size());
             ++number)
            bins[static_cast<std::size_t>(number)] +=
                rate * std::max(0.0, std::min(end, (number + 1) * length) - std::max(begin, number * length));
    }
    return bins;
}

std::vector<int> active_senders(const std::vector<std::vector<double>>& senders, double least_bytes) {
    std::size_t length = 0;
    for (const std::vector<double>& bins : senders)
        length = std::max(length, bins.size());
    std::vector<int> counts(length, 0);
    for (const std::vector<double>& bins : senders)
        for (std::size_t i = 1; i + 1 < bins.size(); ++i)
            if (bins[i - 1] >= least_bytes && bins[i] >= least_bytes && bins[i + 1] >= least_bytes)
                ++counts[i];
    return counts;
}

void add_senders(std::map<std::string, std::set<std::string>>& senders, const RunRecord& record,
                 const Workload& workload) {
    const auto host_of = [&](int rank) -> const std::string& {
        return record.ranks[static_cast<std::size_t>(rank)].addresses.host;
    };
    const int world_size = static_cast<int>(record.ranks.size());
    for (int rank = 0; rank < world_size; ++rank)
        for (const PeerLane& from : needed_peers(workload, rank, world_size).incoming)
            if (host_of(from.peer) != host_of(rank))
                senders[host_of(rank)].insert(host_of(from.peer));
}

std::vector<SwitchPortResult> switch_results(const std::vector<SwitchPortTrace>& traces,
                                             const std::filesystem::path& run_directory,
                                             const std::vector<Timeline>& timelines,
                                             const std::map<std::string, std::set<std::string>>& senders_to,
                                             const RunRecord& record) {
    std::vector<SwitchPortResult> results;
    const std::optional<Span> span = measured_span(record, timelines);
    if (!span)
        return results;
    const std::map<std::string, std::vector<int>> hosts = ranks_by_host(record);
    std::map<std::string, collectors::Trace> by_host;
    std::map<std::string, std::vector<double>> arrivals; // at the switch, from each host
    for (const SwitchPortTrace& each : traces)
        if (hosts.contains(each.host) || sends(each.host, senders_to)) {
            const collectors::Trace& trace = by_host[each.host] =
                collectors::read_trace(run_directory / each.file);
            arrivals[each.host] = bin_bytes(trace, Direction::rx, span->from_ns, span->to_ns, bin_length);
        }
    const double line_bytes = line_bytes_per_bin(record, arrivals);
    for (const SwitchPortTrace& each : traces) {
        if (!hosts.contains(each.host))
            continue;
        const collectors::Trace& trace = by_host[each.host];
        SwitchPortResult result;
        result.port = each.port;
        result.host = each.host;
        result.ranks = hosts.at(each.host);
        const nanoseconds from(span->from_ns - trace.info.start_monotonic_ns);
        const nanoseconds to(span->to_ns - trace.info.start_monotonic_ns);
        result.summary =
            collectors::summarize(trace, Direction::tx, from, to, collectors::standard_windows());
        add_queue(result, collectors::read_queue_trace(run_directory / each.queue_file), *span);
        std::vector<std::vector<double>> senders;
        if (const auto hosts_to = senders_to.find(each.host); hosts_to != senders_to.end())
            for (const std::string& host : hosts_to->second)
                if (arrivals.contains(host))
                    senders.push_back(arrivals[host]);
        result.possible_senders = static_cast<int>(senders.size());
        add_senders(result, senders, line_bytes);
        results.push_back(std::move(result));
    }
    return results;
}

std::string switch_text(const std::vector<SwitchPortResult>& ports) {
    if (ports.empty())
        return "";
    constexpr nanoseconds shown = std::chrono::milliseconds(20); // ports are sampled every 1 ms
    std::string text = fmt::format(
        "\nswitch ports, what leaves for each host\n{:<5} {:<10} {:>12} {:>16} {:>16} {:>8} {:>14}\n", "port",
        "host", "bytes", "PtM(20 ms)", "largest backlog", "drops", "active senders");
    for (const SwitchPortResult& port : ports) {
        std::string ratio = "-";
        for (std::size_t i = 0; i < port.summary.curve.points.size(); ++i) {
            const collectors::BurstinessPoint& point = port.summary.curve.points[i];
            if (point.window == shown && point.resolved && port.summary.nic_bytes > 0)
                ratio = fmt::format("{:.1f}", collectors::peak_to_mean(port.summary.curve, point).estimate) +
                        (i < port.predicted_ratios.size() && port.predicted_ratios[i]
                             ? fmt::format(" ({:.1f})", *port.predicted_ratios[i])
                             : "");
        }
        text += fmt::format("{:<5} {:<10} {:>12} {:>16} {:>14} B {:>8} {:>14}\n", port.port, port.host,
                            port.summary.nic_bytes, ratio, port.max_backlog_bytes, port.drops,
                            fmt::format("{} (max {} of {})", port.typical_active_senders,
                                        port.most_active_senders, port.possible_senders));
    }
    return text +
           "counted after the port's queue, in brackets: predicted; backlog and drops of that queue, read\n"
           "every 2 ms; active senders: hosts that send to the port at the same time, typically\n";
}

} // namespace generator
