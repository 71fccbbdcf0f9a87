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

/// Of each trace's clock, from the first one's, as given for all but the first.
std::vector<nanoseconds> for_all(const char* option, const std::vector<nanoseconds>& given,
                                 std::size_t traces) {
    if (given.size() + 1 != traces)
        throw UsageError(fmt::format("{}: {} given for {} traces; each but the first needs one", option,
                                     given.size(), traces));
    std::vector<nanoseconds> offsets(traces);
    std::copy(given.begin(), given.end(), offsets.begin() + 1);
    return offsets;
}

/// At the start of each trace and at its end.
struct Offsets {
    std::vector<nanoseconds> start;
    std::vector<nanoseconds> end;
};

/// 0 where none is given.
Offsets offsets_of(const SumSettings& settings) {
    const std::size_t traces = settings.trace_paths.size();
    if (settings.offsets.empty() && !settings.end_offsets.empty())
        throw UsageError("--offset-end: goes with --offset, the same at the start");
    if (settings.offsets.empty())
        return {std::vector<nanoseconds>(traces), std::vector<nanoseconds>(traces)};
    const std::vector<nanoseconds> start = for_all("--offset", settings.offsets, traces);
    return {start,
            settings.end_offsets.empty() ? start : for_all("--offset-end", settings.end_offsets, traces)};
}

/// In the time of the first trace. Hosts' clocks differ by what nobody can guess: it must be given.
std::vector<SumPart> parts_of(const SumSettings& settings, const Offsets& offsets,
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
        parts.push_back({&traces[i], between_starts + offsets.start[i],
                         given ? settings.offset_error : nanoseconds(0), offsets.end[i] - offsets.start[i]});
    }
    return parts;
}

} // namespace

int sum_command(const SumSettings& settings) {
    const Offsets offsets = offsets_of(settings);
    std::vector<Trace> traces;
    std::vector<InterfaceSummary> summaries;
    std::vector<SumPart> parts;
    try {
        for (const std::filesystem::path& path : settings.trace_paths)
            traces.push_back(read_trace(path));
        parts = parts_of(settings, offsets, traces);
        for (const Direction direction : {Direction::tx, Direction::rx})
            summaries.push_back(summarize_sum(parts, direction, settings.windows, settings.rates));
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
                         {"clock_offset_seconds", in_seconds(offsets.start[i])},
                         {"clock_offset_at_end_seconds", in_seconds(offsets.end[i])},
                         {"clock_offset_error_seconds", in_seconds(parts[i].uncertainty)}});
        if (!settings.json)
            print_safely("{}: {} of {}, clock offset {} ns{} +- {} ns\n", settings.trace_paths[i].string(),
                         info.interface, info.host, offsets.start[i].count(),
                         offsets.end[i] == offsets.start[i]
                             ? ""
                             : fmt::format(", at the end {} ns,", offsets.end[i].count()),
                         parts[i].uncertainty.count());
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
