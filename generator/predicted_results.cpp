#include "generator/predicted_results.hpp"

#include "collectors/burstiness.hpp"
#include "generator/asked_windows.hpp"
#include "generator/link.hpp"

#include <algorithm>
#include <span>
#include <vector>

namespace generator {
namespace {

constexpr std::uint64_t ethernet_overhead_bytes = 38; // header 14, FCS 4, preamble 8, gap 12
constexpr std::uint64_t shaper_overhead_bytes = 14;   // a tbf counts the header alone

bool on_one_network(const RunRecord& record) {
    return std::all_of(record.ranks.begin(), record.ranks.end(), [&](const HostFacts& facts) {
        return facts.addresses.network == record.ranks[0].addresses.network;
    });
}

/// PtM for each window.
std::vector<std::optional<double>> ratios(std::span<const collectors::Reading> readings,
                                          std::span<const nanoseconds> windows) {
    std::vector<std::optional<double>> values;
    const collectors::BurstinessCurve curve = collectors::burstiness_curve(readings, windows);
    for (const collectors::BurstinessPoint& point : curve.points)
        values.push_back(point.resolved ? std::optional(collectors::peak_to_mean(curve, point).estimate)
                                        : std::nullopt);
    return values;
}

/// In front of a slower link a queue grows as long as the traffic lasts, and fewer iterations are predicted
/// than a long run has.
double mean_bits_per_second(std::span<const collectors::Reading> readings) {
    if (readings.size() < 2 || readings.back().begin_ns == readings.front().begin_ns)
        return 0;
    return 8e9 * static_cast<double>(readings.back().bytes - readings.front().bytes) /
           static_cast<double>(readings.back().begin_ns - readings.front().begin_ns);
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

void add_prediction(RunRecord& record, const Workload& workload) {
    const std::optional<Prediction> prediction =
        record.statistics.finished_iterations == 0
            ? std::nullopt
            : predicted_alone(record, workload, record.statistics.finished_iterations);
    if (!prediction)
        return;
    const bool one_network = on_one_network(record);
    record.predicted_iteration_seconds = 1e-9 * static_cast<double>(prediction->iteration_mean.count());
    const std::vector<nanoseconds> windows = asked_windows(expectations_of(record));
    for (InterfaceResult& result : record.interfaces) {
        if (!result.shared_with.empty() || result.has_background)
            continue;
        const auto readings = collectors::readings(predicted_trace(*prediction, result.ranks, one_network),
                                                   result.summary.direction);
        result.predicted_ratios = ratios(readings, windows);
        const double mean = mean_bits_per_second(readings);
        for (const collectors::BacklogPoint& point : result.summary.backlog)
            result.predicted_backlog_bytes.push_back(
                static_cast<double>(point.rate.bits_per_second) > mean
                    ? std::optional(collectors::max_backlog(readings, point.rate).estimate)
                    : std::nullopt);
    }
    const bool shared =
        std::any_of(record.interfaces.begin(), record.interfaces.end(), [](const InterfaceResult& each) {
            return !each.shared_with.empty() || each.has_background;
        });
    for (SwitchPortResult& port :
         record.switch_ports) // what leaves through the port is what its host receives
        if (!shared)
            port.predicted_ratios = ratios(
                collectors::readings(predicted_trace(*prediction, port.ranks), collectors::Direction::rx),
                collectors::standard_windows());
}

} // namespace generator
