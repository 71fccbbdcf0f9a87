#include "generator/rank_report.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace generator {
namespace {

/// A rank that only saw a peer leave tells us less than the peer itself.
bool is_echo(const std::string& error) {
    for (const char* mark : {"closed the connection", "Connection reset", "Broken pipe"})
        if (error.find(mark) != std::string::npos)
            return true;
    return false;
}

/// When mpirun stops a job on several hosts, its daemons end the ranks of the other hosts at once, all of
/// them; a rank that died by itself is silent alone.
bool only_other_hosts_are_silent(const std::vector<std::optional<RankReport>>& reports,
                                 const std::vector<Endpoint>& endpoints) {
    std::size_t elsewhere = 0;
    for (std::size_t rank = 0; rank < reports.size(); ++rank) {
        const bool here = endpoints[rank].host == endpoints[0].host;
        if (here == !reports[rank])
            return false; // silent here, or an answer from elsewhere
        elsewhere += here ? 0 : 1;
    }
    return elsewhere > 1;
}

} // namespace

std::string serialize(const RankReport& report) {
    nlohmann::json json;
    json["timeline"] = serialize(report.timeline);
    json["status"] = static_cast<int>(report.status);
    json["error"] = report.error;
    json["congestion_control"] = report.congestion_control;
    json["clock_offset_ns"] = report.clock.offset.count();
    json["clock_uncertainty_ns"] = report.clock.uncertainty.count();
    json["cpu_seconds"] = report.cpu_seconds;
    json["traffic_seconds"] = report.traffic_seconds;
    json["traces"] = nlohmann::json::array();
    for (const RecordedTrace& trace : report.traces) {
        nlohmann::json entry;
        entry["file"] = trace.file;
        entry["csv"] = trace.csv;
        entry["sidecar"] = trace.sidecar;
        entry["sampler_cpu_share"] = trace.sampler_cpu_share;
        json["traces"].push_back(std::move(entry));
    }
    return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

RankReport parse_rank_report(const std::string& text) {
    const nlohmann::json json = nlohmann::json::parse(text);
    RankReport report;
    report.timeline = parse_timeline(json.at("timeline").get<std::string>());
    report.status = static_cast<RunStatus>(json.at("status").get<int>());
    report.error = json.at("error");
    report.congestion_control = json.at("congestion_control");
    report.clock = {nanoseconds(json.at("clock_offset_ns").get<std::int64_t>()),
                    nanoseconds(json.at("clock_uncertainty_ns").get<std::int64_t>())};
    report.cpu_seconds = json.at("cpu_seconds");
    report.traffic_seconds = json.at("traffic_seconds");
    for (const nlohmann::json& entry : json.at("traces"))
        report.traces.push_back(
            {entry.at("file"), entry.at("csv"), entry.at("sidecar"), entry.at("sampler_cpu_share")});
    return report;
}

RunEnd run_end(const std::vector<std::optional<RankReport>>& reports,
               const std::vector<Endpoint>& endpoints) {
    std::vector<std::string> silent;
    std::string cause;
    std::string echo;
    std::string stopped;
    for (std::size_t rank = 0; rank < reports.size(); ++rank) {
        const std::optional<RankReport>& report = reports[rank];
        if (!report)
            silent.push_back(endpoints[rank].text());
        else if (report->status == RunStatus::interrupted)
            stopped = report->error;
        else if (report->status == RunStatus::failed) {
            std::string& kind = is_echo(report->error) ? echo : cause;
            if (kind.empty())
                kind = report->error;
        }
    }
    if (!silent.empty() && !stopped.empty() && only_other_hosts_are_silent(reports, endpoints))
        return {RunStatus::interrupted,
                fmt::format("{}; the ranks of the other hosts were ended before they could answer: {}",
                            stopped, fmt::join(silent, ", "))};
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
