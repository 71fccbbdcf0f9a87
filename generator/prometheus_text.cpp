#include "generator/collective_text.hpp"
#include "generator/run_record.hpp"

#include <fmt/format.h>

#include <iterator>

namespace generator {

std::string prometheus_text(const RunRecord& record) {
    std::string text;
    auto append = std::back_inserter(text);
    const auto gauge = [&](std::string_view name, std::string_view help, const auto& samples) {
        fmt::format_to(append, "# HELP gradburst_{0} {1}\n# TYPE gradburst_{0} gauge\n{2}", name, help,
                       samples);
    };
    const auto escaped = [](const std::string& value) {
        std::string result;
        for (const char c : value)
            result += c == '"' || c == '\\' ? fmt::format("\\{}", c) : std::string(1, c == '\n' ? ' ' : c);
        return result;
    };
    const std::string job =
        fmt::format("profile=\"{}\"{}", escaped(record.profile.name),
                    record.job.empty() ? "" : fmt::format(",job_name=\"{}\"", escaped(record.job)));
    const RunStatistics& statistics = record.statistics;
    gauge(
        "run_complete", "1 if the run ended as planned",
        fmt::format("gradburst_run_complete{{{}}} {}\n", job, record.status == RunStatus::complete ? 1 : 0));
    if (statistics.iteration_seconds)
        gauge("iteration_seconds", "Iteration time of the slowest rank",
              fmt::format("gradburst_iteration_seconds{{{0},percentile=\"50\"}} {1}\n"
                          "gradburst_iteration_seconds{{{0},percentile=\"99\"}} {2}\n",
                          job, statistics.iteration_seconds->p50, statistics.iteration_seconds->p99));
    std::string bandwidths;
    for (const CollectiveStatistics& each : statistics.collectives)
        if (each.bus_bytes_per_second)
            bandwidths += fmt::format("gradburst_bus_bytes_per_second{{{},collective=\"{}\"}} {}\n", job,
                                      collective_name(each.collective), *each.bus_bytes_per_second);
    if (!bandwidths.empty())
        gauge("bus_bytes_per_second", "Bus bandwidth of the collectives (nccl-tests)", bandwidths);
    if (record.tcp && record.tcp->retransmitted_segments)
        gauge("tcp_retransmitted_segments", "Sent again on the ranks' connections in the whole run",
              fmt::format("gradburst_tcp_retransmitted_segments{{{}}} {}\n", job,
                          *record.tcp->retransmitted_segments));
    std::string ratios;
    for (const InterfaceResult& result : record.interfaces)
        for (const collectors::BurstinessPoint& point : result.summary.curve.points)
            if (point.resolved && result.summary.nic_bytes > 0)
                ratios += fmt::format(
                    "gradburst_peak_to_mean_lower{{{},host=\"{}\",interface=\"{}\",direction=\"{}\","
                    "tau_seconds=\"{}\"}} {}\n",
                    job, escaped(result.summary.host), escaped(result.summary.interface),
                    collectors::to_text(result.summary.direction),
                    1e-9 * static_cast<double>(point.window.count()),
                    collectors::peak_to_mean(result.summary.curve, point).lower);
    if (!ratios.empty())
        gauge("peak_to_mean_lower", "Certified lower bound of E(tau) / (tau x mean rate)", ratios);
    return text;
}

} // namespace generator
