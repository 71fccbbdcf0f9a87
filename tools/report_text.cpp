#include "tools/report_text.hpp"

#include "tools/report_sections.hpp"
#include "tools/report_tables.hpp"

#include "collectors/units.hpp"
#include "collectors/wrapped_text.hpp"
#include "generator/sweep_text.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace tools {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t columns = 100;
constexpr std::size_t margin = 17; ///< of what stands behind a name

std::string text_of(const Json& document, const std::string& path, const std::string& otherwise = "") {
    const Json found = section_in(document, path);
    return found.is_string() ? found.get<std::string>() : otherwise;
}

std::string line(const std::string& name, const std::string& text) {
    return collectors::labelled(name, text, margin, columns);
}

std::string hosts_text(const Json& run) {
    std::vector<std::string> hosts;
    std::size_t ranks = 0;
    for (const Json& host : run["on"]["hosts"]) {
        std::vector<std::string> interfaces = host["interfaces"];
        const std::string name = host["host"];
        hosts.push_back(fmt::format("{} ({})", name.empty() ? "unknown host" : name,
                                    interfaces == std::vector<std::string>{""}
                                        ? "unknown interface"
                                        : fmt::format("{}", fmt::join(interfaces, ", "))));
        ranks += host["ranks"].size();
    }
    constexpr std::size_t shown = 8;
    if (hosts.size() > shown) {
        const std::size_t more = hosts.size() - shown;
        hosts.resize(shown);
        hosts.push_back(fmt::format("{} more", more));
    }
    const std::string names = fmt::format("{}", fmt::join(hosts, ", "));
    return ranks == 0 ? names : fmt::format("{} rank{} on {}", ranks, ranks == 1 ? "" : "s", names);
}

std::string network_text(const Json& on) {
    const auto rate = number_in(on, "/line_rate_bits_per_second");
    return fmt::format(
        "line rate {}, {}, congestion control {}", rate ? collectors::format_bit_rate(*rate) : "unknown",
        text_of(on, "/transport", "transport unknown"), text_of(on, "/congestion_control", "unknown"));
}

std::string status_text(const Json& run) {
    const std::string status = text_of(run, "/status", "unknown");
    const std::string error = text_of(run, "/error");
    return error.empty() ? status : fmt::format("{}: {}", status, error);
}

std::string result_text(const std::string& result) {
    if (result == "none")
        return "none (nothing is expected; --expect, or \"expect\" in the profile)";
    return result == "pass" ? "PASS" : result == "fail" ? "FAIL" : "NOT MEASURED";
}

std::string verdict_text(const Json& verdict) {
    std::string text = line("verdict", result_text(text_of(verdict, "/result")));
    for (const Json& each : verdict["expectations"])
        text += line(fmt::format("  {}", result_text(text_of(each, "/result"))),
                     fmt::format("{}: {}", text_of(each, "/text"), text_of(each, "/reason")));
    return text;
}

/// Of all runs.
std::string overall_text(const Json& verdict) {
    std::string text = line("verdict", result_text(text_of(verdict, "/result")));
    for (const Json& reason : verdict["reasons"])
        text += line("", reason.get<std::string>());
    return text;
}

std::string headline_text(const Json& headline) {
    std::string text;
    for (const Json& each : headline) {
        text += fmt::format("  {:<36}{}\n", text_of(each, "/label"), text_of(each, "/text"));
        std::string trust = collectors::wrapped(text_of(each, "/trust"), columns - 4);
        for (std::size_t at = trust.find('\n'); at != std::string::npos; at = trust.find('\n', at + 4))
            trust.insert(at + 1, 4, ' ');
        text += fmt::format("    {}\n", trust);
    }
    return text;
}

/// What stands on the first screen.
std::string summary_of(const Json& run) {
    const bool is_run = run["kind"] == "run";
    std::string text = line(is_run ? "run" : "trace", text_of(run, "/name"));
    if (is_run)
        text += line("profile", fmt::format("{}{}", text_of(run, "/title"),
                                            run["role"] == "baseline" ? "; the baseline" : ""));
    text += line("on", hosts_text(run));
    if (is_run)
        text += line("network", network_text(run["on"]));
    text += line(is_run ? "ran" : "recorded", text_of(run, "/ran"));
    if (!is_run)
        text += line("started", text_of(run, "/started_at", "unknown"));
    else
        text += line("started",
                     fmt::format("{} by gradburst {} ({} build)", text_of(run, "/started_at", "unknown"),
                                 text_of(run, "/program_version", "unknown"),
                                 text_of(run, "/on/build_type", "unknown")));
    text += line("status", status_text(run));
    if (run["role"] != "baseline")
        text += verdict_text(run["verdict"]);
    text += "\n" + headline_text(run["headline"]);
    if (!run["warnings"].empty())
        text += "\n";
    for (const Json& warning : run["warnings"])
        text += line("WARNING", warning.get<std::string>());
    return text;
}

} // namespace

std::string report_text(const Json& report) {
    std::string text;
    if (report.contains("sweep"))
        return generator::sweep_text(report["sweep"]);
    if (!report["comparison"].is_null())
        text = overall_text(report["verdict"]) + "\n" + comparison_table(report["comparison"]);
    for (const Json& run : report["runs"]) {
        text += (text.empty() ? "" : "\n" + std::string(columns, '-') + "\n\n") + summary_of(run);
        for (const auto& table : {times_table, ratio_table, backlog_table, background_table, loss_table,
                                  switch_table, informative_table})
            if (const std::string rows = table(run); !rows.empty())
                text += "\n" + rows;
    }
    return text;
}

} // namespace tools
