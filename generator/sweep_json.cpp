#include "generator/json_values.hpp"
#include "generator/sweep_record.hpp"

#include <nlohmann/json.hpp>

#include <fmt/format.h>

namespace generator {
namespace {

using Json = nlohmann::ordered_json;

Json job_json(const SweepJob& job) {
    Json json;
    json["name"] = job.name;
    json["iterations"]["finished"] = job.finished;
    json["iterations"]["counted"] = job.counted;
    json["iterations"]["p50_seconds"] = seconds_or_null(job.p50);
    json["interference"] = or_null(job.interference);
    return json;
}

Json held_json(const SweepStep& step) {
    if (!step.held)
        return {};
    Json json;
    json["median"] = collectors::in_seconds(step.held->median);
    json["first"] = collectors::in_seconds(step.held->first);
    json["last"] = collectors::in_seconds(step.held->last);
    json["drift"] = collectors::in_seconds(step.held->drift());
    json["iterations"] = step.held->iterations;
    return json;
}

Json ratio_json(const std::optional<SweepRatio>& ratio) {
    if (!ratio)
        return {};
    Json json;
    json["where"] = ratio->where;
    json["mean_bits_per_second"] = ratio->mean_bits_per_second;
    json["tau_seconds"] = collectors::in_seconds(sweep_window);
    json["lower"] = ratio->ratio ? Json(ratio->ratio->lower) : Json();
    json["estimate"] = ratio->ratio ? Json(ratio->ratio->estimate) : Json();
    json["upper"] = ratio->ratio ? Json(ratio->ratio->upper) : Json();
    return json;
}

Json backlog_json(const std::optional<SweepBacklog>& backlog) {
    if (!backlog)
        return {};
    Json json;
    json["where"] = backlog->where;
    json["of"] = backlog->rate ? "link" : "switch_queue";
    json["rate_bits_per_second"] = backlog->rate ? Json(backlog->rate->bits_per_second) : Json();
    json["lower_bytes"] = backlog->bytes.lower;
    json["estimate_bytes"] = backlog->bytes.estimate;
    json["upper_bytes"] = backlog->bytes.upper;
    return json;
}

Json step_json(const SweepStep& step) {
    Json json;
    json["directory"] = step.directory;
    json["alone"] = text_or_null(step.alone);
    json["status"] = status_name(step.status);
    json["error"] = text_or_null(step.error);
    json["offset_seconds"]["asked"] = seconds_or_null(step.asked);
    json["offset_seconds"]["held"] = held_json(step);
    json["offset_seconds"]["was_held"] = or_null(step.offset_was_held);
    json["cut_off_after_seconds"] = seconds_or_null(step.cut_off);
    json["jobs"] = Json::array();
    for (const SweepJob& job : step.jobs)
        json["jobs"].push_back(job_json(job));
    json["ptm"] = ratio_json(step.ratio);
    json["backlog"] = backlog_json(step.backlog);
    json["drops"] = or_null(step.drops);
    json["retransmits"] = or_null(step.retransmits);
    return json;
}

} // namespace

std::string sweep_json(const SweepRecord& sweep) {
    Json json;
    json["format"] = "gradburst-sweep/1";
    json["version"] = GRADBURST_VERSION;
    json["sweep_id"] = sweep.id;
    json["command"] = sweep.command;
    json["started_at"] = sweep.started_at;
    json["status"] = status_name(sweep.status);
    json["error"] = text_or_null(sweep.error);
    json["shifted"] = sweep.shifted;
    json["reference"] = sweep.reference;
    json["period_seconds"] = seconds_or_null(sweep.period);
    json["period_origin"] = !sweep.period        ? Json()
                            : sweep.period_given ? Json("jobs file")
                                                 : Json("p50 of the reference alone");
    json["offset_error_limit"] = most_offset_error;
    json["planned_steps"] = sweep.planned_steps;
    json["steps"] = Json::array();
    for (const SweepStep& step : sweep.steps)
        json["steps"].push_back(step_json(step));
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace generator
