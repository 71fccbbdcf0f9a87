#include "collectors/commands.hpp"
#include "collectors/interfaces.hpp"
#include "collectors/rdma_counters.hpp"
#include "collectors/summary.hpp"
#include "collectors/summary_json.hpp"
#include "collectors/trace_file.hpp"
#include "collectors/units.hpp"

#include <system_error>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace collectors {

namespace {

Trace read_named_trace(const std::filesystem::path& path) {
    try {
        return read_trace(path);
    } catch (const std::exception& error) { // the user's file, whatever is wrong with it
        throw UsageError(error.what());
    }
}

/// A window in which nothing was recorded says nothing about the traffic.
void require_samples(const ReportSettings& settings, const Trace& trace) {
    if (trace.samples.empty())
        return; // the report says so itself
    const auto last = std::chrono::nanoseconds(trace.samples.back().t_ns);
    const auto first = std::chrono::nanoseconds(trace.samples.front().t_ns);
    if (settings.from > last || settings.to < first)
        throw UsageError(fmt::format("{}: --from and --to leave no sample: the trace reaches from {} to {}",
                                     settings.trace_path.string(), format_duration(first),
                                     format_duration(last)));
}

void print_heading(const ReportSettings& settings, const Trace& trace) {
    fmt::print("{}: {}", settings.trace_path.string(),
               trace.info.source.empty() ? "unknown source" : "source " + trace.info.source);
    if (!trace.info.source_reason.empty())
        fmt::print(" ({})", trace.info.source_reason);
    if (!trace.info.byte_unit.empty())
        fmt::print("; {}", trace.info.byte_unit);
    fmt::print("; ended by: {}\n", trace.info.reason);
}

} // namespace

int report_command(const ReportSettings& settings) {
    const Trace trace = read_named_trace(settings.trace_path);
    require_samples(settings, trace);
    std::span<const std::chrono::nanoseconds> windows = settings.windows;
    if (windows.empty())
        windows = standard_windows();
    if (!settings.json)
        print_heading(settings, trace);

    nlohmann::ordered_json interfaces = nlohmann::ordered_json::array();
    for (const Direction direction : {Direction::tx, Direction::rx}) {
        const InterfaceSummary summary =
            summarize(trace, direction, settings.from, settings.to, windows, settings.rates);
        if (settings.json)
            interfaces.push_back(summary_json(summary));
        else
            fmt::print("\n{}", summary_text(summary));
    }
    if (settings.json) {
        const nlohmann::ordered_json document{{"format", "gradburst-trace-report/1"},
                                              {"version", GRADBURST_VERSION},
                                              {"trace", settings.trace_path.string()},
                                              {"interfaces", interfaces}};
        fmt::print("{}\n", document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
    }
    return 0;
}

int interfaces_command() {
    fmt::print("{:<16} {:<8} {:<14} {}\n", "interface", "state", "speed", "driver");
    std::vector<NetworkInterface> all = list_interfaces();
    for (NetworkInterface& port : list_rdma_ports())
        all.push_back(std::move(port));
    for (const NetworkInterface& interface : all)
        fmt::print("{:<16} {:<8} {:<14} {}\n", interface.name, interface.state,
                   interface.speed ? format_bit_rate(static_cast<double>(interface.speed->bits_per_second))
                                   : "-",
                   interface.driver.empty() ? "-" : interface.driver);
    return 0;
}

} // namespace collectors
