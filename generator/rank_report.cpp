#include "generator/rank_report.hpp"

#include "generator/socket_state_json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace generator {

namespace {

/// Takes the next part of the text that follows the header.
std::string take(std::string_view& text, const nlohmann::json& bytes) {
    const std::string_view part = text.substr(0, bytes.get<std::size_t>());
    text.remove_prefix(part.size());
    return std::string(part);
}

} // namespace

// A line of JSON, and behind it the timeline, the lines of tcp.csv, the background traffic and the traces,
// which may be long, as they are.

std::string serialize(const RankReport& report) {
    std::string behind = serialize(report.timeline);
    nlohmann::json json;
    json["timeline_bytes"] = behind.size();
    json["tcp_bytes"] = report.tcp_lines.size();
    json["tcp_left_out_from"] =
        report.tcp_left_out_from ? nlohmann::json(*report.tcp_left_out_from) : nlohmann::json();
    behind += report.tcp_lines;
    const std::string background = report.background ? serialize(*report.background) : "";
    json["background_bytes"] = background.size();
    behind += background;
    json["status"] = static_cast<int>(report.status);
    json["error"] = report.error;
    json["lost_peer"] = report.lost_peer.value_or(-1);
    json["sockets"] = to_json(report.sockets);
    json["checked_elements"] = report.checked_elements;
    json["cpu_seconds"] = report.cpu_seconds;
    json["traffic_seconds"] = report.traffic_seconds;
    json["warnings"] = report.warnings;
    json["traces"] = nlohmann::json::array();
    for (const RecordedTrace& trace : report.traces) {
        nlohmann::json entry;
        entry["file"] = trace.file;
        entry["csv_bytes"] = trace.csv.size();
        entry["sidecar_bytes"] = trace.sidecar.size();
        entry["sampler_cpu_share"] = trace.sampler_cpu_share;
        json["traces"].push_back(std::move(entry));
        behind += trace.csv;
        behind += trace.sidecar;
    }
    return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + '\n' + behind;
}

RankReport parse_rank_report(const std::string& text) {
    const std::size_t header_end = text.find('\n');
    const nlohmann::json json = nlohmann::json::parse(std::string_view(text).substr(0, header_end));
    std::string_view behind = std::string_view(text).substr(header_end + 1);
    RankReport report;
    report.timeline = parse_timeline(take(behind, json.at("timeline_bytes")));
    report.tcp_lines = take(behind, json.at("tcp_bytes"));
    if (const std::string background = take(behind, json.at("background_bytes")); !background.empty())
        report.background = parse_background_report(background);
    if (const auto& iteration = json.at("tcp_left_out_from"); !iteration.is_null())
        report.tcp_left_out_from = iteration.get<std::uint32_t>();
    report.status = static_cast<RunStatus>(json.at("status").get<int>());
    report.error = json.at("error");
    if (const int peer = json.at("lost_peer"); peer >= 0)
        report.lost_peer = peer;
    report.sockets = socket_state_from(json.at("sockets"));
    report.checked_elements = json.at("checked_elements");
    report.cpu_seconds = json.at("cpu_seconds");
    report.traffic_seconds = json.at("traffic_seconds");
    report.warnings = json.at("warnings");
    for (const nlohmann::json& entry : json.at("traces")) {
        std::string csv = take(behind, entry.at("csv_bytes"));
        std::string sidecar = take(behind, entry.at("sidecar_bytes"));
        report.traces.push_back(
            {entry.at("file"), std::move(csv), std::move(sidecar), entry.at("sampler_cpu_share")});
    }
    return report;
}

RunEnd run_end(const std::vector<std::optional<RankReport>>& reports,
               const std::vector<Endpoint>& endpoints) {
    std::vector<std::string> silent;
    std::string cause;
    std::string echo;
    std::string stopped;
    bool silent_one_left = false;
    for (std::size_t rank = 0; rank < reports.size(); ++rank) {
        const std::optional<RankReport>& report = reports[rank];
        if (!report)
            silent.push_back(endpoints[rank].text());
        else if (report->status == RunStatus::interrupted)
            stopped = report->error;
        else if (report->status == RunStatus::failed) {
            std::string& kind = report->lost_peer ? echo : cause;
            if (kind.empty())
                kind = report->error;
            silent_one_left |= report->lost_peer && !reports[static_cast<std::size_t>(*report->lost_peer)];
        }
    }
    // Launchers stop all ranks when one has died. A silent one that no peer saw leave is only late.
    if (!silent.empty() && !stopped.empty() && cause.empty() && !silent_one_left)
        return {RunStatus::interrupted,
                fmt::format("{}; no answer in time from {}", stopped, fmt::join(silent, ", "))};
    if (!silent.empty()) {
        const std::string& seen = !cause.empty() ? cause : echo;
        return {RunStatus::failed, fmt::format("no answer from {} (killed, crashed or cut off){}{}",
                                               fmt::join(silent, ", "), seen.empty() ? "" : "; ", seen)};
    }
    if (!cause.empty())
        return {RunStatus::failed, cause};
    if (!stopped.empty())
        return {RunStatus::interrupted, stopped};
    if (!echo.empty())
        return {RunStatus::failed, echo};
    return {};
}

} // namespace generator
