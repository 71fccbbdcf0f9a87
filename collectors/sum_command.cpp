#include "collectors/commands.hpp"
#include "collectors/counter_sum.hpp"
#include "collectors/printable.hpp"
#include "collectors/summary.hpp"
#include "collectors/summary_json.hpp"
#include "collectors/summary_warnings.hpp"
#include "collectors/trace_file.hpp"
#include "collectors/units.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace collectors {

namespace {

using std::chrono::nanoseconds;

/// Of each trace's clock, from the first one's; 0 where none is given.
std::vector<nanoseconds> offsets_of(const SumSettings& settings) {
    std::vector<nanoseconds> offsets(settings.trace_paths.size());
    if (settings.offsets.empty())
        return offsets;
    if (settings.offsets.size() + 1 != offsets.size())
        throw UsageError(fmt::format("--offset: {} given for {} traces; each but the first needs one",
                                     settings.offsets.size(), offsets.size()));
    std::copy(settings.offsets.begin(), settings.offsets.end(), offsets.begin() + 1);
    return offsets;
}

/// In the time of the first trace. Hosts' clocks differ by what nobody can guess: it must be given.
std::vector<SumPart> parts_of(const SumSettings& settings, const std::vector<nanoseconds>& offsets,
                              const std::vector<Trace>& traces) {
    const TraceInfo& first = traces.front().info;
    // Two boots of a host, or a clock that was set far; NTP moves it by less.
    constexpr nanoseconds same_boot = std::chrono::minutes(1);
    const auto boot = [](const TraceInfo& info) {
        return nanoseconds(info.start_realtime_ns) - nanoseconds(info.start_monotonic_ns);
    };
    std::vector<SumPart> parts;
    for (std::size_t i = 0; i < traces.size(); ++i) {
        const TraceInfo& info = traces[i].info;
        const bool given = i > 0 && !settings.offsets.empty();
        for (std::size_t before = 0; before < i; ++before)
            if (!info.interface.empty() && traces[before].info.host == info.host &&
                traces[before].info.interface == info.interface)
                throw UsageError(fmt::format("{} and {} are both of {} on {}: its traffic would count twice",
                                             settings.trace_paths[before].string(),
                                             settings.trace_paths[i].string(), info.interface, info.host));
        if (info.host != first.host && !given)
            throw UsageError(fmt::format(
                "{} is of host {}, {} of {}: give the offset of its clock with --offset",
                settings.trace_paths[i].string(), info.host, settings.trace_paths[0].string(), first.host));
        if (info.host.empty() && info.start_realtime_ns == 0)
            throw UsageError(fmt::format("{} has no sidecar that says where and when it was recorded",
                                         settings.trace_paths[i].string()));
        if (!given && std::chrono::abs(boot(info) - boot(first)) > same_boot)
            throw UsageError(
                fmt::format("{} and {} are not of the same time: host {} was started, or its clock "
                            "set, in between; give --offset if you know better",
                            settings.trace_paths[0].string(), settings.trace_paths[i].string(), info.host));
        const nanoseconds between_starts(info.start_monotonic_ns - first.start_monotonic_ns);
        parts.push_back(
            {&traces[i], between_starts + offsets[i], given ? settings.offset_error : nanoseconds(0)});
    }
    return parts;
}

} // namespace

int sum_command(const SumSettings& settings) {
    const std::vector<nanoseconds> offsets = offsets_of(settings);
    std::vector<Trace> traces;
    std::vector<InterfaceSummary> summaries;
    std::vector<SumPart> parts;
    const std::span<const nanoseconds> windows =
        settings.windows.empty() ? standard_windows() : std::span(settings.windows);
    try {
        for (const std::filesystem::path& path : settings.trace_paths)
            traces.push_back(read_trace(path));
        parts = parts_of(settings, offsets, traces);
        for (const Direction direction : {Direction::tx, Direction::rx})
            summaries.push_back(summarize(sum_of(parts, direction), direction, nanoseconds::min(),
                                          nanoseconds::max(), windows, settings.rates));
    } catch (const std::exception& error) { // the user's files, whatever is wrong with them
        throw UsageError(error.what());
    }

    std::vector<TraceInfo> infos;
    for (const Trace& trace : traces)
        infos.push_back(trace.info);
    const std::vector<std::string> host_warnings = warnings_about_hosts(infos);
    nlohmann::ordered_json terms = nlohmann::ordered_json::array();
    nlohmann::ordered_json interfaces = nlohmann::ordered_json::array();
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const TraceInfo& info = traces[i].info;
        terms.push_back({{"trace", settings.trace_paths[i].string()},
                         {"host", info.host},
                         {"interface", info.interface},
                         {"clock_offset_seconds", in_seconds(offsets[i])},
                         {"clock_offset_error_seconds", in_seconds(parts[i].uncertainty)}});
        if (!settings.json)
            print_safely("{}: {} of {}, clock offset {} ns +- {} ns\n", settings.trace_paths[i].string(),
                         info.interface, info.host, offsets[i].count(), parts[i].uncertainty.count());
    }
    for (const InterfaceSummary& summary : summaries)
        if (settings.json)
            interfaces.push_back(summary_json(summary));
        else
            print_safely("\n{}", summary_text(summary));
    if (!settings.json)
        for (const std::string& warning : host_warnings)
            print_safely("WARNING: {}\n", warning);
    if (settings.json) {
        const nlohmann::ordered_json document{{"format", "gradburst-trace-report/1"},
                                              {"version", GRADBURST_VERSION},
                                              {"sum_of", terms},
                                              {"interfaces", interfaces},
                                              {"warnings", host_warnings}};
        print_safely("{}\n", document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
    }
    return 0;
}

} // namespace collectors
