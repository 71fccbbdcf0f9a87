#include "generator/launch_record.hpp"

#include "collectors/units.hpp"
#include "generator/json_values.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <iterator>

namespace generator {
namespace {

using Json = nlohmann::ordered_json;
using collectors::format_duration;

double seconds(nanoseconds time) {
    return 1e-9 * static_cast<double>(time.count());
}

/// An iteration begins when the one before has ended, and is late by as much as its first bucket is.
std::int64_t first_bucket_delay(const Timeline& timeline, std::uint32_t iteration) {
    const auto first = std::find_if(timeline.buckets.begin(), timeline.buckets.end(),
                                    [&](const BucketRecord& each) { return each.iteration == iteration; });
    return first == timeline.buckets.end() ? 0 : std::max<std::int64_t>(0, first->start_ns - first->due_ns);
}

std::optional<nanoseconds> last_start(const LaunchRecord& launch, const JobResult& job) {
    const std::uint32_t finished = job.record.statistics.finished_iterations;
    return finished == 0 ? std::nullopt : iteration_start(job, finished - 1, launch.start_monotonic_ns);
}

Json job_json(const LaunchRecord& launch, const JobResult& job, nanoseconds offset) {
    const RunStatistics& statistics = job.record.statistics;
    Json json;
    json["name"] = job.record.job;
    json["profile"] = job.record.profile.name;
    json["profile_hash"] = profile_hash(job.record.profile);
    json["directory"] = job.record.job;
    json["status"] = status_name(job.record.status);
    json["error"] = job.record.error.empty() ? Json() : Json(job.record.error);
    json["verdict"] =
        job.record.verdict.result == Result::none ? Json() : Json(to_text(job.record.verdict.result));
    json["ranks"] = job.members;
    json["offset_seconds"]["planned"] = seconds(offset);
    json["offset_seconds"]["first_iteration"] =
        seconds_or_null(iteration_start(job, 0, launch.start_monotonic_ns));
    json["offset_seconds"]["last_iteration"] = seconds_or_null(last_start(launch, job));
    json["iterations"]["count"] = statistics.finished_iterations;
    json["iterations"]["measured"] = statistics.measured_iterations;
    Json& times = json["iterations"]["seconds"];
    if (const auto& measured = statistics.iteration_seconds) {
        times["mean"] = measured->mean;
        times["p50"] = measured->p50;
        times["p99"] = measured->p99;
        times["max"] = measured->max;
    }
    const std::optional<double>& alone = job.record.predicted_iteration_seconds;
    json["iterations"]["predicted_alone_seconds"] = alone ? Json(*alone) : Json();
    return json;
}

} // namespace

std::optional<nanoseconds> iteration_start(const JobResult& job, std::uint32_t iteration,
                                           std::int64_t start_monotonic_ns) {
    std::optional<std::int64_t> latest;
    for (std::size_t rank = 0; rank < job.reports.size(); ++rank) {
        const std::optional<RankReport>& report = job.reports[rank];
        if (!report || report->timeline.iterations.size() <= iteration)
            return std::nullopt;
        const Timeline& timeline = report->timeline;
        const std::int64_t on_host = timeline.start_monotonic_ns + timeline.iterations[iteration].start_ns +
                                     first_bucket_delay(timeline, iteration);
        const std::int64_t start =
            on_host +
            (rank < job.record.clocks.size() ? job.record.clocks[rank].offset_at(on_host).count() : 0);
        latest = std::max(latest.value_or(start), start);
    }
    return latest ? std::optional(nanoseconds(*latest - start_monotonic_ns)) : std::nullopt;
}

std::string launch_json(const LaunchRecord& launch, const std::vector<JobResult>& jobs) {
    Json json;
    json["format"] = "gradburst-launch/1";
    json["version"] = GRADBURST_VERSION;
    json["launch_id"] = launch.id;
    json["command"] = launch.command;
    json["started_at"] = launch.started_at;
    json["start_at"] = launch.start_at ? Json::parse(start_at_json(*launch.start_at)) : Json();
    const bool complete = std::all_of(jobs.begin(), jobs.end(), [](const JobResult& job) {
        return job.record.status == RunStatus::complete;
    });
    json["complete"] = complete;
    json["offset_seconds_means"] = "from the start of the launch, on rank 0's clock, to when the job's last "
                                   "rank began its first or last "
                                   "finished iteration, by as much later as its first bucket was late";
    json["jobs"] = Json::array();
    for (std::size_t i = 0; i < jobs.size(); ++i)
        json["jobs"].push_back(
            job_json(launch, jobs[i], launch.offsets.empty() ? nanoseconds{0} : launch.offsets[i]));
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string launch_text(const LaunchRecord& launch, const std::vector<JobResult>& jobs) {
    std::string text =
        fmt::format("\n{:<16} {:<12} {:>10} {:>12} {:>12} {:>10} {:>14} {:>14}\n", "job", "status", "offset",
                    "first began", "last began", "iterations", "iteration p50", "alone (model)");
    auto append = std::back_inserter(text);
    const auto shown = [](const std::optional<nanoseconds>& time) {
        return time ? format_duration(*time) : std::string("-");
    };
    const auto from_seconds = [](double value) { return nanoseconds(std::llround(1e9 * value)); };
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        const RunRecord& record = jobs[i].record;
        const auto& times = record.statistics.iteration_seconds;
        const auto& alone = record.predicted_iteration_seconds;
        fmt::format_to(append, "{:<16} {:<12} {:>10} {:>12} {:>12} {:>10} {:>14} {:>14}\n", record.job,
                       status_name(record.status), format_duration(launch.offsets.at(i)),
                       shown(iteration_start(jobs[i], 0, launch.start_monotonic_ns)),
                       shown(last_start(launch, jobs[i])), record.statistics.finished_iterations,
                       times ? format_duration(from_seconds(times->p50)) : "-",
                       alone ? format_duration(from_seconds(*alone)) : "-");
    }
    return text +
           "first and last began: when the job's last rank began its first and last finished iteration, from "
           "the start of the launch\n";
}

} // namespace generator
