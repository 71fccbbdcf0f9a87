#include "tools/superpose_report.hpp"

#include <fmt/format.h>

namespace tools {
namespace {

/// How much faster than the link a trace must be to be told: a shaper's bucket lets a little more through at
/// first.
constexpr double faster = 1.15;

} // namespace

std::vector<std::string> superposition_warnings(const std::vector<SuperposedTrace>& traces,
                                                const SuperposeSettings& settings, double load) {
    std::vector<std::string> warnings;
    for (const SuperposedTrace& each : traces) {
        warnings.insert(warnings.end(), each.job.warnings.begin(), each.job.warnings.end());
        const collectors::TraceInfo& info = each.chosen.trace.info;
        if (info.byte_unit != traces.front().chosen.trace.info.byte_unit)
            warnings.push_back(fmt::format(
                "DIFFERENT UNITS: {} counts \"{}\", {} \"{}\"", each.chosen.input.name, info.byte_unit,
                traces.front().chosen.input.name, traces.front().chosen.trace.info.byte_unit));
        if (info.interval.count() > 0 && info.interval != settings.cell)
            warnings.push_back(
                fmt::format("RESAMPLED: {} was read every {}, its bytes are spread over cells of {}",
                            each.chosen.input.name, collectors::format_duration(info.interval),
                            collectors::format_duration(settings.cell)));
        if (settings.rate &&
            each.job.peak_bits_per_second > faster * static_cast<double>(settings.rate->bits_per_second))
            warnings.push_back(fmt::format(
                "{} ALONE IS FASTER THAN THE LINK: up to {} over {}; it builds a queue without the others",
                each.chosen.input.name, collectors::format_bit_rate(each.job.peak_bits_per_second),
                collectors::format_duration(each.job.resolved_from)));
    }
    if (!settings.rate)
        return warnings;
    if (load >= 1)
        warnings.push_back(fmt::format("LOAD IS {:.1f} % OF THE LINK: the queue grows without end, and no "
                                       "buffer holds it; no backlog is given",
                                       100 * load));
    const double cell_bytes = settings.rate->bytes_per_second() * collectors::in_seconds(settings.cell);
    for (const std::uint64_t buffer : settings.buffers)
        if (static_cast<double>(buffer) < 2 * cell_bytes)
            warnings.push_back(fmt::format("{} IS LITTLE FOR CELLS OF {}, in which the link carries {}: what "
                                           "happens within a cell is not "
                                           "known",
                                           collectors::format_bytes(static_cast<double>(buffer)),
                                           collectors::format_duration(settings.cell),
                                           collectors::format_bytes(cell_bytes)));
    return warnings;
}

} // namespace tools
