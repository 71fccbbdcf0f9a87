#include "collectors/commands.hpp"
#include "collectors/interfaces.hpp"
#include "collectors/printable.hpp"
#include "collectors/rdma_counters.hpp"
#include "collectors/slow_lane.hpp"
#include "collectors/summary.hpp"
#include "collectors/summary_json.hpp"
#include "collectors/summary_warnings.hpp"
#include "collectors/trace_file.hpp"
#include "collectors/units.hpp"

#include <array>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace collectors {

namespace {

/// Calls what reads the trace: whatever is wrong with the file is the user's mistake.
template <typename Read>
auto reading(Read&& read) {
    try {
        return read();
    } catch (const std::exception& error) {
        throw UsageError(error.what());
    }
}

/// A window in which nothing was recorded says nothing about the traffic.
void require_samples(const ReportSettings& settings) {
    using std::chrono::nanoseconds;
    std::optional<nanoseconds> first;
    nanoseconds last{0};
    reading([&] {
        for_each_block(settings.trace_path, [&](std::span<const Sample> samples) {
            if (!samples.empty() && !first)
                first = nanoseconds(samples.front().t_ns);
            if (!samples.empty())
                last = nanoseconds(samples.back().t_ns);
        });
    });
    if (first &&
        (settings.from > last || settings.to < *first)) // of an empty trace the report says so itself
        throw UsageError(fmt::format("{}: --from and --to leave no sample: the trace reaches from {} to {}",
                                     settings.trace_path.string(), format_duration(*first),
                                     format_duration(last)));
}

void print_heading(const ReportSettings& settings, const TraceInfo& info) {
    print_safely("{}: {}", settings.trace_path.string(),
                 info.source.empty() ? "unknown source" : "source " + info.source);
    if (!info.source_reason.empty())
        print_safely(" ({})", info.source_reason);
    if (!info.byte_unit.empty())
        print_safely("; {}", info.byte_unit);
    print_safely("; ended by: {}\n", info.reason);
}

/// What the slow lane beside the trace counted; nothing where there is none (a run, an older trace).
std::vector<SlowTotal> totals_beside(const std::filesystem::path& trace_path) {
    const std::filesystem::path path = slow_path(trace_path);
    return std::filesystem::exists(path) ? reading([&] { return slow_totals(path); })
                                         : std::vector<SlowTotal>{};
}

void print_totals(const std::filesystem::path& trace_path, const std::vector<SlowTotal>& totals) {
    if (totals.empty())
        return;
    const LaneNotes notes = reading([&] { return read_lane_notes(slow_path(trace_path)); });
    print_safely("\nover the whole recording, read each {} (tcp and ecn: all of this network namespace)\n",
                 format_duration(slow_lane_interval));
    for (const SlowTotal& total : totals)
        print_safely("  {:<20} {:>14} {}{}\n", total.name,
                     total.total ? std::to_string(*total.total) : "not known", total.unit,
                     total.is_level ? ", the largest" : "");
    if (notes.late > 0)
        print_safely("  {} readings were left out: the kernel answered too late\n", notes.late);
    if (!notes.gave_up.empty())
        print_safely("  WARNING: GIVEN UP: {}\n", notes.gave_up);
}

nlohmann::ordered_json totals_json(const std::vector<SlowTotal>& totals) {
    nlohmann::ordered_json document = nlohmann::ordered_json::object();
    for (const SlowTotal& total : totals)
        document[total.name + (total.is_level ? "_max" : "")] =
            total.total ? nlohmann::ordered_json(*total.total) : nlohmann::ordered_json();
    return document;
}

} // namespace

int report_command(const ReportSettings& settings) {
    const TraceInfo info = reading([&] { return read_trace_info(settings.trace_path); });
    if (settings.from != std::chrono::nanoseconds::min() || settings.to != std::chrono::nanoseconds::max())
        require_samples(settings);
    SummarySettings asked{settings.windows, always(settings.rates), settings.from, settings.to};
    if (asked.windows.empty())
        asked.windows.assign(standard_windows().begin(), standard_windows().end());
    const auto summaries = reading([&] {
        return summarize(info, blocks_of(settings.trace_path), std::array{Direction::tx, Direction::rx},
                         asked);
    });
    if (!settings.json)
        print_heading(settings, info);

    nlohmann::ordered_json interfaces = nlohmann::ordered_json::array();
    for (const InterfaceSummary& summary : summaries) {
        if (settings.json)
            interfaces.push_back(summary_json(summary));
        else
            print_safely("\n{}", summary_text(summary));
    }
    const std::vector<std::string> host_warnings = warnings_about_hosts(std::span(&info, 1));
    if (!settings.json)
        for (const std::string& warning : host_warnings)
            print_safely("WARNING: {}\n", warning);
    const std::vector<SlowTotal> totals = totals_beside(settings.trace_path);
    if (!settings.json)
        print_totals(settings.trace_path, totals);
    if (settings.json) {
        const nlohmann::ordered_json document{{"format", "gradburst-trace-report/1"},
                                              {"version", GRADBURST_VERSION},
                                              {"trace", settings.trace_path.string()},
                                              {"interfaces", interfaces},
                                              {"warnings", host_warnings},
                                              {"slow_lane", totals_json(totals)}};
        print_safely("{}\n", document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
    }
    return 0;
}

int interfaces_command() {
    print_safely("{:<16} {:<8} {:<14} {}\n", "interface", "state", "speed", "driver");
    std::vector<NetworkInterface> all = list_interfaces();
    for (NetworkInterface& port : list_rdma_ports())
        all.push_back(std::move(port));
    for (const NetworkInterface& interface : all)
        print_safely("{:<16} {:<8} {:<14} {}\n", interface.name, interface.state,
                     interface.speed ? format_bit_rate(static_cast<double>(interface.speed->bits_per_second))
                                     : "-",
                     interface.driver.empty() ? "-" : interface.driver);
    return 0;
}

} // namespace collectors
