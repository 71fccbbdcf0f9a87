#include "generator/interfaces_text.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace generator {
namespace {

using collectors::format_duration;

std::string nic_bytes_text(const InterfaceResult& result) {
    const auto nic = static_cast<double>(result.summary.nic_bytes);
    const auto payload = static_cast<double>(result.payload_bytes);
    const auto range_of = [](const OtherPayload& others) {
        return others.most_bytes ? fmt::format("{} to {} B", others.least_bytes, *others.most_bytes)
                                 : std::string("an unknown number");
    };
    const std::string background =
        result.has_background ? fmt::format(", {} of background traffic", range_of(result.background)) : "";
    if (!result.shared_with.empty() || result.has_background)
        return fmt::format("payload {} B{}{}, NIC counted {} B of all in the measured iterations\n",
                           result.payload_bytes, background,
                           result.shared_with.empty() ? ""
                                                      : fmt::format(", {} of job {}", range_of(result.others),
                                                                    fmt::join(result.shared_with, ", ")),
                           result.summary.nic_bytes);
    return fmt::format("payload {} B, NIC counted {} B{} in the measured iterations\n", result.payload_bytes,
                       result.summary.nic_bytes,
                       result.payload_bytes == 0 ? ""
                                                 : fmt::format(" ({:+.2f} %)", 100 * (nic / payload - 1)));
}

/// Of many interfaces, one line per window: the prediction beside the range of what they measured.
std::string overview_text(const std::vector<InterfaceResult>& results) {
    std::string text =
        fmt::format("\nPtM(tau) of all {} counters, predicted against measured\n"
                    "{:>10} {:>11} {:>19} {:>17} {:>10}\n",
                    results.size(), "tau", "predicted", "measured estimate", "certified above", "deviation");
    const std::vector<collectors::BurstinessPoint>& windows = results[0].summary.curve.points;
    for (std::size_t i = 0; i < windows.size(); ++i) {
        double lower = 1e300, smallest = 1e300, largest = 0, deviation = 0;
        bool resolved = true;
        bool predicted = true;
        for (const InterfaceResult& result : results) {
            const collectors::BurstinessPoint& point = result.summary.curve.points[i];
            const collectors::Bounds ratio = collectors::peak_to_mean(result.summary.curve, point);
            resolved = resolved && point.resolved && result.summary.nic_bytes > 0;
            predicted = predicted && i < result.predicted_ratios.size() && result.predicted_ratios[i];
            lower = std::min(lower, ratio.lower);
            smallest = std::min(smallest, ratio.estimate);
            largest = std::max(largest, ratio.estimate);
            if (predicted && std::abs(ratio.estimate / *result.predicted_ratios[i] - 1) > std::abs(deviation))
                deviation = ratio.estimate / *result.predicted_ratios[i] - 1;
        }
        const std::string expected = predicted ? fmt::format("{:.2f}", *results[0].predicted_ratios[i]) : "-";
        if (resolved)
            fmt::format_to(std::back_inserter(text), "{:>10} {:>11} {:>19} {:>17.2f} {:>10}\n",
                           format_duration(windows[i].window), expected,
                           fmt::format("{:.2f} .. {:.2f}", smallest, largest), lower,
                           predicted ? fmt::format("{:+.1f} %", 100 * deviation) : "-");
        else
            fmt::format_to(std::back_inserter(text), "{:>10} {:>11} {:>19}\n",
                           format_duration(windows[i].window), expected, "not resolved");
    }
    return text + "deviation: of the estimate that is farthest from its prediction\n";
}

} // namespace

std::string interfaces_text(const RunRecord& record, const std::string& out) {
    std::string text;
    constexpr std::size_t few = 2;
    const bool many = record.interfaces.size() > few;
    for (std::size_t i = 0; i < (many ? 1 : record.interfaces.size()); ++i) {
        const InterfaceResult& result = record.interfaces[i];
        text += "\n" + collectors::summary_text(result.summary, result.predicted_ratios) + "  " +
                nic_bytes_text(result);
    }
    if (!many)
        return text;
    text += "\n";
    for (const InterfaceResult& result : record.interfaces)
        text += fmt::format("{} {} {}: {}", result.summary.host, result.summary.interface,
                            collectors::to_text(result.summary.direction), nic_bytes_text(result));
    for (std::size_t i = 1; i < record.interfaces.size(); ++i)
        for (const std::string& warning : record.interfaces[i].summary.warnings)
            text += fmt::format("WARNING: {} {} {}: {}\n", record.interfaces[i].summary.host,
                                record.interfaces[i].summary.interface,
                                collectors::to_text(record.interfaces[i].summary.direction), warning);
    text += overview_text(record.interfaces);
    return text +
           fmt::format(
               "each counter in full, of the first: gradburst-collect report {}/nic/{}.{}.csv --from {:.6f}s "
               "--to {:.6f}s\n",
               out, record.interfaces[0].summary.host, record.interfaces[0].summary.interface,
               1e-9 * static_cast<double>(record.interfaces[0].from.count()),
               1e-9 * static_cast<double>(record.interfaces[0].to.count()));
}

} // namespace generator
