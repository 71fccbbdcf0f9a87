#include "generator/run_warnings.hpp"

#include "collectors/burstiness.hpp"
#include "collectors/units.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace generator {

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

} // namespace generator
