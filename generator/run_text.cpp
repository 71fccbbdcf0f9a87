#include "generator/collective_text.hpp"
#include "generator/interfaces_text.hpp"
#include "generator/plan_book.hpp"
#include "generator/run_record.hpp"
#include "generator/switch_results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

namespace generator {
namespace {

using collectors::format_bit_rate;
using collectors::format_bytes;
using collectors::format_duration;

std::string duration_text(double seconds) {
    return format_duration(nanoseconds(std::llround(seconds * 1e9)));
}

std::string times(const std::optional<Distribution>& values) {
    if (!values)
        return "not measured";
    return fmt::format("p50 {}  p95 {}  p99 {}  max {}  mean {}", duration_text(values->p50),
                       duration_text(values->p95), duration_text(values->p99), duration_text(values->max),
                       duration_text(values->mean));
}

std::string bucket_text(const std::vector<WorkloadBucket>& buckets) {
    std::vector<std::string> sizes;
    for (const WorkloadBucket& bucket : buckets)
        sizes.push_back(bucket.collective == Collective::all_reduce
                            ? std::to_string(bucket.bytes)
                            : fmt::format("{} ({})", bucket.bytes, collective_name(bucket.collective)));
    constexpr std::size_t shown = 8;
    if (sizes.size() > shown) {
        const std::size_t more = sizes.size() - shown;
        sizes.resize(shown);
        sizes.push_back(fmt::format("{} more", more));
    }
    return fmt::format("{} B", fmt::join(sizes, ", "));
}

std::string length_text(const RunSettings& run) {
    std::vector<std::string> limits;
    if (run.iterations)
        limits.push_back(fmt::format("{} iterations", *run.iterations));
    if (run.duration)
        limits.push_back(format_duration(*run.duration));
    return fmt::format("{}, the first {} as warm-up", fmt::join(limits, " or "), run.warmup);
}

std::string bytes_text(const RunRecord& record) {
    const RunStatistics& statistics = record.statistics;
    const bool planned = record.planned_bytes.has_value();
    const bool agree = planned && *record.planned_bytes == statistics.sent_bytes &&
                       statistics.sent_bytes == statistics.received_bytes;
    return fmt::format("payload bytes    planned {}  sent {}  received {}  {}\n",
                       planned ? std::to_string(*record.planned_bytes) : "unknown", statistics.sent_bytes,
                       statistics.received_bytes,
                       agree ? "(equal)"
                             : (record.status == RunStatus::complete
                                    ? "(THEY DIFFER)"
                                    : "(planned counts finished iterations only)"));
}

/// The first wrong element ends a run, and its error says which.
std::string verified_text(const RunRecord& record) {
    if (!record.profile.run.verify)
        return "";
    return fmt::format("verified         {} elements of all ranks checked{}\n", record.checked_elements,
                       record.status == RunStatus::complete ? ", none wrong"
                                                            : "; for wrong ones see the error");
}

std::string cpu_text(const RunRecord& record) {
    double rank = 0;
    double sampler = 0;
    for (const RankCpu& cpu : record.cpu) {
        rank = std::max(rank, cpu.rank);
        sampler = std::max(sampler, cpu.sampler);
    }
    return fmt::format(
        "CPU              busiest rank {:.2f} % of a core, sampler {:.2f} %, from iteration 0 to the end\n",
        100 * rank, 100 * sampler);
}

/// "gated by         rank 2 in 17 of 19 iterations, p50 1.2 ms, max 3.4 ms after the median rank; rank 0 ..."
std::string gating_text(const std::vector<Gate>& gates) {
    constexpr std::size_t shown = 3;
    std::vector<std::string> texts;
    const std::vector<GatingRank> ranks = gating_ranks(gates);
    for (const GatingRank& each : ranks)
        if (texts.size() < shown)
            texts.push_back(fmt::format("rank {} {} of {} times, p50 {}, max {}", each.rank, each.iterations,
                                        gates.size(), duration_text(each.median_seconds),
                                        duration_text(each.max_seconds)));
    if (ranks.size() > shown)
        texts.push_back(fmt::format("{} more", ranks.size() - shown));
    if (texts.empty())
        return "";
    return fmt::format("gated by         {}\n"
                       "                 (the last rank to start the last collective; how long after the "
                       "median rank)\n",
                       fmt::join(texts, "; "));
}

/// The worst of the hosts, of those that were measured at all.
struct ClocksOverview {
    std::set<std::int64_t> measured; ///< when: ranks of a host share that
    std::size_t without_end = 0;     ///< ranks
    nanoseconds start_error{0};
    nanoseconds end_error{0};
    ClockDrift drift;
    bool over_mpi = false;

    void add(const ClockAlignment& clock) {
        if (!clock.start)
            return;
        measured.insert(clock.start->at_ns);
        over_mpi = over_mpi || clock.method == ClockMethod::mpi_network;
        start_error = std::max(start_error, clock.start->error);
        without_end += clock.end ? 0u : 1u;
        if (clock.end)
            end_error = std::max(end_error, clock.end->error);
        if (const auto own = clock.drift(); own && std::abs(own->ppm) >= std::abs(drift.ppm))
            drift = *own;
    }
};

std::string clocks_text(const std::vector<ClockAlignment>& clocks) {
    ClocksOverview all;
    for (const ClockAlignment& clock : clocks)
        all.add(clock);
    if (clocks.empty())
        return "";
    if (all.measured.empty())
        return "clocks           one host: offset 0 by construction\n";
    return fmt::format("clocks           {} host{} against rank 0's, over {} network: offset known to {} "
                       "before the traffic,\n                 {}\n",
                       all.measured.size(), all.measured.size() == 1 ? "" : "s",
                       all.over_mpi ? "MPI's" : "the data", format_duration(all.start_error),
                       all.without_end > 0
                           ? "not measured after it"
                           : fmt::format("to {} after it; largest drift {:+.2f} ppm, known to {:.2f}",
                                         format_duration(all.end_error), all.drift.ppm, all.drift.error_ppm));
}

std::string_view bus_text(Collective collective) {
    switch (collective) {
    case Collective::all_reduce:
        return "x 2(N-1)/N";
    case Collective::reduce_scatter:
    case Collective::all_gather:
    case Collective::all_to_all:
        return "x (N-1)/N";
    case Collective::broadcast:
    case Collective::send:
        break;
    }
    return "the same";
}

/// Two lines for each kind of collective: times, and bandwidth by nccl-tests' definitions.
std::string collectives_text(const RunStatistics& statistics) {
    std::string text;
    for (const CollectiveStatistics& each : statistics.collectives) {
        text += fmt::format("{:<17}{}\n", collective_name(each.collective), times(each.seconds));
        if (each.bus_bytes_per_second)
            text += fmt::format(
                "  bandwidth      algorithm {}/s (bytes / time), bus {}/s ({}, as nccl-tests define it)\n",
                format_bytes(*each.algorithm_bytes_per_second), format_bytes(*each.bus_bytes_per_second),
                bus_text(each.collective));
    }
    return text;
}

std::string verdict_text(const Verdict& verdict) {
    const auto name = [](Result result) {
        return result == Result::pass ? "PASS" : result == Result::fail ? "FAIL" : "NOT MEASURED";
    };
    if (verdict.result == Result::none)
        return "";
    std::string text = fmt::format("verdict          {}\n", name(verdict.result));
    for (const Judgement& each : verdict.judgements)
        text += fmt::format("  {:<15}{}: {}\n", name(each.result), each.text, each.reason);
    return text;
}

} // namespace

std::string settings_text(const RunRecord& record, const Workload& workload, const std::string& out) {
    const Profile& profile = record.profile;
    std::string text;
    const auto line = [&](std::string_view name, const std::string& value) {
        fmt::format_to(std::back_inserter(text), "{:<17}{}\n", name, value);
    };
    line("gradburst", fmt::format("{} ({} build, {}, kernel TCP)", GRADBURST_VERSION, GRADBURST_BUILD_TYPE,
                                  record.mpi_library));
    line("profile", fmt::format("{} (hash {})", profile.name, profile_hash(profile)));
    line("compute",
         fmt::format("forward {}, backward {}, optimizer {}{}", format_duration(profile.compute.forward),
                     format_duration(profile.compute.backward), format_duration(profile.compute.optimizer),
                     profile.scale.time == 1 ? "" : fmt::format(", times {}", profile.scale.time)));
    line("buckets", bucket_text(workload.later_iterations) +
                        (workload.first_iteration.size() == workload.later_iterations.size()
                             ? ""
                             : "; first iteration " + bucket_text(workload.first_iteration)));
    line("collective", collective_text(profile.collective));
    line("length", length_text(profile.run));
    line("line rate",
         fmt::format("{} ({}); bytes x {:.6g}",
                     record.line_rate
                         ? format_bit_rate(static_cast<double>(record.line_rate->bits_per_second))
                         : "unknown",
                     record.line_rate_origin, record.byte_scale));
    for (const std::string& text_of_entry :
         background_settings(profile.background, static_cast<int>(record.ranks.size())))
        line("background", text_of_entry);
    line("payload", profile.run.verify ? "float32 sums, every element checked" : "not looked at");
    for (const Endpoint& endpoint : record.endpoints)
        line(fmt::format("rank {}", endpoint.rank),
             fmt::format("{}, {} {}", endpoint.host, endpoint.interface,
                         endpoint.port == 0 ? endpoint.address
                                            : fmt::format("{} port {}", endpoint.address, endpoint.port)));
    line("sampling", fmt::format("every {}{}", format_duration(profile.sampling.interval),
                                 profile.sampling.tcp_info ? "" : ", without TCP_INFO"));
    line("run directory", out);
    return text;
}

std::string in_front(const std::string& job, const std::string& text) {
    if (job.empty())
        return text;
    std::string result;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        result += fmt::format("{} | {}\n", job, std::string_view(text).substr(begin, end - begin));
        begin = end + 1;
    }
    return result;
}

std::string result_text(const RunRecord& record, const std::string& out) {
    const RunStatistics& statistics = record.statistics;
    std::string text = "\n";
    auto append = std::back_inserter(text);
    if (record.status != RunStatus::complete)
        fmt::format_to(append, "{}: {}\n", record.status == RunStatus::interrupted ? "INTERRUPTED" : "FAILED",
                       record.error);
    fmt::format_to(append, "iterations       {} finished, {} measured\n", statistics.finished_iterations,
                   statistics.measured_iterations);
    fmt::format_to(append, "iteration time   {}\n", times(statistics.iteration_seconds));
    if (record.predicted_iteration_seconds)
        fmt::format_to(append, "  predicted      mean {}{}\n",
                       duration_text(*record.predicted_iteration_seconds),
                       !record.profile.background.empty() ? " for the collectives alone"
                       : record.job.empty()               ? ""
                                                          : " for the job alone");
    fmt::format_to(append, "start lateness   {}\n", times(statistics.lateness_seconds));
    text += gating_text(statistics.gates);
    text += clocks_text(record.clocks);
    text += collectives_text(statistics);
    text += bytes_text(record);
    text += verified_text(record);
    text += cpu_text(record);
    if (!record.sockets.empty()) {
        const std::string details = socket_text(record.sockets, record.profile.network.sockets);
        fmt::format_to(append, "transport        kernel TCP, congestion control {}{}{}\n",
                       congestion_controls(record.sockets), details.empty() ? "" : ", ", details);
    }
    text += tcp_text(record.tcp, record.profile.sampling.tcp_info);
    text += background_text(record.background, record.profile.background);
    text += interfaces_text(record, out);
    text += slow_lane_text(record.slow_lanes);
    text += switch_text(record.switch_ports);
    text += "\n";
    for (const std::string& warning : record.warnings)
        fmt::format_to(append, "WARNING: {}\n", warning);
    text += verdict_text(record.verdict);
    return text;
}

} // namespace generator
