#include "generator/launch_results.hpp"

#include "collectors/printable.hpp"
#include "generator/rank_report.hpp"
#include "generator/publication.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <utility>

#include <fmt/format.h>

namespace generator {
namespace {

using namespace std::chrono_literals;

constexpr auto metrics_after_stop = 650ms; // then stop_grace is nearly over

} // namespace

int graver(int a, int b) {
    for (const int code : {interrupted, our_failure, not_as_expected})
        if (a == code || b == code)
            return code;
    return success;
}

std::vector<JobResult> job_results(const LaunchAgreement& launch) {
    std::vector<JobResult> results;
    for (const Agreement& job : launch.jobs)
        results.push_back({job.record, job.workload, job.members, {}, {}});
    return results;
}

LaunchResults::LaunchResults(const LaunchAgreement& launch, const LaunchRecord& record,
                             RunDirectory& directory, std::vector<RunDirectory>& directories,
                             const StopRequest& stop)
    : launch_(launch), record_(record), directory_(directory), directories_(directories), stop_(stop) {}

/// Each job gets what its ranks reported.
void LaunchResults::take_reports(std::vector<std::optional<RankReport>> reports) {
    traces_.path = directory_.path();
    for (const std::optional<RankReport>& report : reports)
        if (report)
            for (const RecordedTrace& trace : report->traces)
                traces_.files.insert(trace.file);
    results_ = job_results(launch_);
    for (JobResult& job : results_)
        for (const int member : job.members)
            job.reports.push_back(std::exchange(reports[static_cast<std::size_t>(member)], std::nullopt));
    for (const std::optional<RankReport>& standing_by : reports)
        if (standing_by) {
            std::vector<std::string>& warnings = results_.front().record.warnings;
            warnings.insert(warnings.end(), standing_by->warnings.begin(), standing_by->warnings.end());
            if (!standing_by->error.empty())
                warnings.push_back(fmt::format("A RANK THAT STOOD BY FAILED: {}", standing_by->error));
        }
}

/// Once all ranks have reported: what rank 0 left in its sockets still travels when its own run is over.
void LaunchResults::stop_switch_sampling(std::optional<SwitchSampling>& switch_sampling) {
    if (!switch_sampling)
        return;
    std::vector<std::string> errors;
    switch_traces_ = switch_sampling->stop("all ranks reported", errors);
    for (const std::string& error : errors)
        for (JobResult& job : results_)
            job.record.warnings.push_back(fmt::format("SWITCH PORTS NOT KEPT: {}", error));
    if (!launch_.own_job)
        return;
    JobResult& job = results_[*launch_.own_job];
    std::optional<RankReport>& own = job.reports[static_cast<std::size_t>(
        std::find(job.members.begin(), job.members.end(), 0) - job.members.begin())];
    for (const SwitchPortTrace& trace : switch_traces_)
        if (own) // its CPU is the sampler's, not the rank's
            own->traces.push_back({trace.file.string(), "", "", trace.cpu_share});
}

/// Computed aside: should the run be stopped meanwhile, they are left behind.
void LaunchResults::add_metrics() {
    metrics_ = std::async(std::launch::async, [this, results = results_]() mutable {
        for (JobResult& job : results) {
            std::vector<const JobResult*> others;
            for (const JobResult& other : results)
                if (&other != &job)
                    others.push_back(&other);
            add_interfaces(job, others, switch_traces_, traces_);
        }
        return results;
    });
    while (metrics_.wait_for(10ms) != std::future_status::ready)
        if (stop_.requested_for(metrics_after_stop)) {
            for (JobResult& job : results_)
                job.record = without_metrics(std::move(job.record), Stopped(stop_.signal()).what());
            return;
        }
    results_ = metrics_.get();
}

int LaunchResults::publish_launch(int exit_code) {
    const std::string json = launch_json(record_, results_);
    std::vector<std::string> kept = directory_.kept();
    for (const JobResult& job : results_)
        kept.push_back(job.record.job + "/");
    if (launch_.settings().json && !record_.of_sweep)
        collectors::print_safely("{}", json);
    else if (!record_.of_sweep)
        collectors::print_safely("{}kept in {}: {}\n", launch_text(record_, results_),
                                 directory_.path().string(), fmt::join(kept, ", "));
    std::fflush(stdout);
    try {
        directory_.write("launch.json", json);
        return exit_code;
    } catch (const std::exception& error) {
        collectors::print_safely(stderr, "gradburst: {}\n", error.what());
        return our_failure;
    }
}

int LaunchResults::conclude(const std::vector<std::optional<std::string>>& texts,
                            std::optional<SwitchSampling>& switch_sampling) {
    std::vector<std::optional<RankReport>> reports;
    for (const auto& text : texts)
        reports.push_back(text ? std::optional(parse_rank_report(*text)) : std::nullopt);
    std::vector<std::string> unwritten = keep_remote_traces(reports, directory_);
    take_reports(std::move(reports));
    stop_switch_sampling(switch_sampling);
    std::vector<std::vector<std::string>> unwritten_of_job;
    for (std::size_t i = 0; i < results_.size(); ++i) {
        add_reports(results_[i]);
        unwritten_of_job.push_back(keep(results_[i], directories_[i]));
    }
    unwritten_of_job[0].insert(unwritten_of_job[0].end(), unwritten.begin(), unwritten.end());
    add_metrics();
    int exit_code = success;
    for (std::size_t i = 0; i < results_.size(); ++i) {
        Published published =
            publish(std::move(results_[i].record), directories_[i], unwritten_of_job[i], record_.of_sweep);
        results_[i].record = std::move(published.record);
        exit_code = graver(exit_code, published.exit_code);
    }
    if (several())
        exit_code = publish_launch(exit_code);
    return exit_code;
}

} // namespace generator
