#include "tools/report_tables.hpp"

#include "tools/report_sections.hpp"

#include "collectors/units.hpp"
#include "collectors/wrapped_text.hpp"

#include <array>
#include <chrono>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tools {
namespace {

using Json = nlohmann::ordered_json;
using Number = std::optional<double>;

constexpr std::size_t table_columns = 100;
constexpr std::size_t most_rows = 40; ///< of one table; report.json has them all

std::string duration_text(const Number& seconds) {
    if (!seconds)
        return "-";
    const bool negative = *seconds < 0;
    return (negative ? "-" : "") +
           collectors::format_duration(std::chrono::nanoseconds(std::llround(1e9 * std::abs(*seconds))));
}

std::string bytes_text(const Number& bytes) {
    if (!bytes)
        return "-";
    return (*bytes < 0 ? "-" : "") + collectors::format_bytes(std::abs(*bytes));
}

std::string number_text(const Number& number) {
    return number ? fmt::format("{:.4g}", *number) : "-";
}

std::string name_of(const Json& interface) {
    return fmt::format("{}.{} {}", interface.value("host", ""), interface.value("interface", ""),
                       interface.value("direction", ""));
}

/// In lines that begin in that column.
std::string indented(const std::string& text, std::size_t column) {
    std::string lines = std::string(column, ' ');
    for (const char c : collectors::wrapped(text, table_columns - column))
        lines += c == '\n' ? "\n" + std::string(column, ' ') : std::string(1, c);
    return lines + "\n";
}

/// Rows below a heading; of too many, the first.
std::string table(const std::string& heading, const std::vector<std::string>& rows) {
    if (rows.empty())
        return "";
    std::string text = heading + "\n";
    for (std::size_t i = 0; i < rows.size() && i < most_rows; ++i)
        text += rows[i] + "\n";
    if (rows.size() > most_rows)
        text += fmt::format("... and {} more in report.json\n", rows.size() - most_rows);
    return text;
}

std::string times_row(const std::string& name, const Json& seconds) {
    std::string row = fmt::format("{:<34}", name);
    for (const char* const path : {"/mean", "/p50", "/p95", "/p99", "/max"})
        row += fmt::format(" {:>12}", duration_text(number_in(seconds, path)));
    return row;
}

/// "26.39..35.83(21.5)"
std::string ratio_cell(const Json& interface, double window) {
    for (const Json& point : interface["burstiness"]) {
        const Number lower = number_in(point, "/ptm_lower");
        const Number upper = number_in(point, "/ptm_upper");
        if (std::abs(point.value("tau_seconds", 0.0) - window) > 1e-12 || !lower || !upper)
            continue;
        const std::string low = fmt::format("{:.4g}", *lower);
        const std::string high = fmt::format("{:.4g}", *upper);
        const Number predicted = number_in(point, "/ptm_predicted");
        return (low == high ? low : low + ".." + high) +
               (predicted ? fmt::format("({:.3g})", *predicted) : "");
    }
    return "-";
}

} // namespace

std::string times_table(const Json& run) {
    std::vector<std::string> rows;
    if (const Json seconds = section_in(run, "/iterations/seconds"); seconds.is_object()) {
        rows.push_back(times_row("iteration", seconds));
        if (const Number predicted = number_in(run, "/iterations/predicted_seconds"))
            rows.push_back(fmt::format("{:<34} {:>12}", "  predicted", duration_text(predicted)));
    }
    for (const Json& bucket : run["bucket_seconds"])
        rows.push_back(times_row(
            fmt::format("bucket {} ({})", bucket.value("bucket", 0), bytes_text(number_in(bucket, "/bytes"))),
            bucket["seconds"]));
    if (run["lateness_seconds"].is_object())
        rows.push_back(times_row("start lateness", run["lateness_seconds"]));
    for (const Json& rank : run["skew"])
        rows.push_back(times_row(fmt::format("start skew of rank {} (gated {})", rank.value("rank", 0),
                                             rank.value("gated_iterations", 0)),
                                 rank["start_skew_seconds"]));
    return table(
        fmt::format("{:<34} {:>12} {:>12} {:>12} {:>12} {:>12}", "times", "mean", "p50", "p95", "p99", "max"),
        rows);
}

std::string ratio_table(const Json& run) {
    constexpr std::array windows{0.001, 0.005, 0.01, 0.1};
    std::vector<std::string> rows;
    for (const Json& interface : run["interfaces"]) {
        std::string row = fmt::format("{:<24.24}", name_of(interface));
        for (const double window : windows)
            row += fmt::format(" {:>18}", ratio_cell(interface, window));
        rows.push_back(row);
    }
    return table(fmt::format("{:<24} {:>18} {:>18} {:>18} {:>18}", "PtM, certified (model)", "1 ms", "5 ms",
                             "10 ms", "100 ms"),
                 rows);
}

/// Of all interfaces, the longest queue at each rate, and the one whose estimate that is.
std::string backlog_table(const Json& run) {
    struct Longest {
        Number lower, estimate, upper, predicted;
        std::string of;
    };
    std::map<double, Longest> longest; // by rate
    for (const Json& interface : run["interfaces"])
        for (const Json& point : interface["backlog"]) {
            Longest& found = longest[point.value("rate_bits_per_second", 0.0)];
            if (const Number estimate = number_in(point, "/estimate_bytes"); estimate > found.estimate) {
                found.estimate = estimate;
                found.predicted = number_in(point, "/predicted_bytes");
                found.of = name_of(interface);
            }
            found.lower = std::max(found.lower, number_in(point, "/lower_bytes"));
            found.upper = std::max(found.upper, number_in(point, "/upper_bytes"));
        }
    std::vector<std::string> rows;
    for (const auto& [rate, of] : longest)
        rows.push_back(fmt::format(
            "{:<24} {:>12} {:>12} {:>12} {:>12}  {}", collectors::format_bit_rate(rate), bytes_text(of.lower),
            bytes_text(of.estimate), bytes_text(of.upper), bytes_text(of.predicted), of.of));
    return table(fmt::format("{:<24} {:>12} {:>12} {:>12} {:>12}  {}", "B_max(r), longest queue", "at least",
                             "estimate", "at most", "predicted", "estimate of"),
                 rows);
}

/// By entry of the profile, and below it by size and query.
std::string background_table(const Json& run) {
    std::vector<std::string> rows;
    const auto times = [](const Json& each) {
        std::string cells;
        for (const char* const path : {"/p50", "/p95", "/p99", "/max"})
            cells += fmt::format(" {:>10}", duration_text(number_in(each["completion_seconds"], path)));
        return cells;
    };
    const auto rate = [](const Number& value) {
        return value ? collectors::format_bit_rate(*value) : std::string("-");
    };
    const auto count = [](const Json& json, const char* path) {
        const Number value = number_in(json, path);
        return value ? fmt::format("{:.0f}", *value) : std::string("-");
    };
    if (!run["background"].is_object())
        return "";
    for (const Json& entry : run["background"]["entries"]) {
        rows.push_back(fmt::format("{:<22.22} {:>12} {:>12} {:>8} {:>8}{}", entry.value("name", ""),
                                   rate(number_in(entry, "/offered_bits_per_second")),
                                   rate(number_in(entry, "/received_bits_per_second")),
                                   count(entry, "/planned/messages"), count(entry, "/received/messages"),
                                   times(entry)));
        for (const Json& size : entry["by_size"])
            if (number_in(size, "/messages") > 0)
                rows.push_back(fmt::format("  {:<54} {:>8}{}", size.value("size", ""),
                                           count(size, "/messages"), times(size)));
        if (const Json queries = section_in(entry, "/queries"); queries.is_object())
            rows.push_back(fmt::format("  {:<45} {:>8} {:>8}{}", "queries, to the last answer",
                                       count(queries, "/planned"), count(queries, "/complete"),
                                       times(queries)));
    }
    const std::string text = table(fmt::format("{:<22} {:>12} {:>12} {:>8} {:>8} {:>10} {:>10} {:>10} {:>10}",
                                               "background traffic", "offered", "received", "due", "complete",
                                               "p50", "p95", "p99", "max"),
                                   rows);
    return text.empty() ? ""
                        : text + "messages, from due at the sender to the last byte at the receiver; the "
                                 "prediction is of the collectives alone\n";
}

std::string loss_table(const Json& run) {
    constexpr std::array keys{"rx_drops", "tx_drops", "queue_drops", "tcp_retransmits", "tcp_timeouts"};
    std::vector<std::string> rows;
    for (const Json& lane : run["slow_lane"]) {
        std::string row =
            fmt::format("{:<32}", fmt::format("{}.{}", lane.value("host", ""), lane.value("interface", "")));
        for (const char* const key : keys) {
            const Number count = number_in(lane, std::string("/") + key);
            row += fmt::format(" {:>12}", count ? fmt::format("{:.0f}", *count) : "-");
        }
        rows.push_back(row);
    }
    const std::string text =
        table(fmt::format("{:<32} {:>12} {:>12} {:>12} {:>12} {:>12}", "losses, warm-up included", "rx drops",
                          "tx drops", "queue drops", "retransmits", "timeouts"),
              rows);
    return text.empty()
               ? ""
               : text + "retransmits and timeouts: of all connections of the host's network namespace, "
                        "not the ranks' alone\n";
}

std::string switch_table(const Json& run) {
    std::vector<std::string> rows;
    for (const Json& port : run["switch_ports"])
        rows.push_back(fmt::format(
            "{:<32} {:>16} {:>16} {:>16}",
            fmt::format("{} to {}", port.value("port", ""), port.value("leads_to", "")),
            bytes_text(number_in(port, "/max_backlog_bytes")), number_text(number_in(port, "/drops")),
            number_text(number_in(port, "/active_senders/max"))));
    return table(
        fmt::format("{:<32} {:>16} {:>16} {:>16}", "switch ports", "longest queue", "drops", "most senders"),
        rows);
}

std::string informative_table(const Json& run) {
    if (!run["informative"].is_object())
        return "";
    std::vector<std::string> rows;
    constexpr std::array<std::array<const char*, 2>, 4> words{
        {{"jct_ratio", "JCT ratio (measured / predicted)"},
         {"overlap_fraction", "overlap fraction"},
         {"jfi", "Jain's fairness index of goodput"},
         {"cv_iteration", "CV of the iteration time"}}};
    for (const auto& [key, label] : words)
        rows.push_back(fmt::format("{:<34} {:>12}", label,
                                   number_text(number_in(run, fmt::format("/informative/{}/value", key)))));
    return table("informative, in words of the IETF's BMWG drafts", rows);
}

std::string comparison_table(const Json& comparison) {
    std::string text = fmt::format("comparison of {}\nwith baseline {}\n\n", comparison.value("run", ""),
                                   comparison.value("baseline", ""));
    for (const Json& difference : comparison["settings_that_differ"])
        text += fmt::format("NOT ALIKE IN     {}\n", difference.get<std::string>());
    if (!comparison["settings_that_differ"].empty())
        text += "\n";
    text += fmt::format("{:<38} {:>11} {:>11} {:>8}  {}\n", "", "baseline", "run", "change", "conclusion");
    for (const Json& row : comparison["rows"]) {
        const std::string unit = row.value("unit", "");
        const auto shown = [&](const Number& value) {
            return unit == "s"                  ? duration_text(value)
                   : unit == "bytes/s" && value ? bytes_text(value) + "/s"
                                                : number_text(value);
        };
        const Number relative = number_in(row, "/relative");
        text += fmt::format("{:<38} {:>11} {:>11} {:>8}  {}\n", row.value("label", ""),
                            shown(number_in(row, "/baseline")), shown(number_in(row, "/run")),
                            relative ? fmt::format("{:+.1f} %", 100 * *relative) : "-",
                            row.value("conclusion", ""));
        if (row["interval"].is_object())
            text += fmt::format(
                "{:<38} difference {}, {} % interval {} to {}\n", "", shown(number_in(row, "/difference")),
                std::lround(100 * row["interval"].value("level", 0.95)),
                shown(number_in(row, "/interval/lower")), shown(number_in(row, "/interval/upper")));
        else
            text += indented(row.value("reason", ""), 39);
    }
    return text + "\n" + collectors::wrapped(comparison.value("method", ""), table_columns) + "\n";
}

} // namespace tools
