#include "generator/sweep_results.hpp"

#include "collectors/printable.hpp"
#include "generator/sweep_text.hpp"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace generator {

SweepResults::SweepResults(const LaunchAgreement& launch, RunDirectory directory, const std::string& command)
    : launch_(launch), directory_(std::move(directory)) {
    record_.id = random_run_id();
    record_.command = command;
    record_.started_at = utc_now();
    record_.error = "the sweep did not end (all ranks killed, machine stopped)";
    record_.shifted = launch.jobs[launch.sweep->roles.shifted].record.job;
    record_.reference = launch.jobs[launch.sweep->roles.reference].record.job;
    record_.planned_steps = static_cast<std::uint32_t>(planned_steps(launch).size());
    directory_.write("jobs.json", launch.jobs_text);
    write();
}

void SweepResults::write() {
    directory_.write("sweep.json", sweep_json(record_));
}

const std::vector<nanoseconds>& SweepResults::offsets() {
    if (offsets_.empty()) {
        record_.period_given = launch_.sweep->period.has_value();
        record_.period = record_.period_given ? launch_.sweep->period : p50_alone(record_, record_.reference);
        if (!record_.period || record_.period->count() <= 0)
            throw std::runtime_error(
                fmt::format("the period of job {} is not known: it finished no measured iteration alone",
                            record_.reference));
        offsets_ = sweep_offsets(launch_.sweep->range, *record_.period);
    }
    return offsets_;
}

std::vector<std::optional<nanoseconds>> SweepResults::limits(const PlannedStep& step) const {
    std::vector<std::optional<nanoseconds>> limits;
    for (const std::size_t job : step.jobs)
        limits.push_back(step.turn ? together_limit(launch_.jobs[job], record_, launch_.jobs.size())
                                   : alone_limit(launch_.jobs[job]));
    return limits;
}

bool SweepResults::add(SweepStep step) {
    record_.steps.push_back(std::move(step));
    write();
    return record_.steps.back().status == RunStatus::complete;
}

bool SweepResults::end(RunStatus status, const std::string& error) {
    record_.status = status;
    record_.error = error;
    const std::string json = sweep_json(record_);
    bool written = true;
    try {
        write();
    } catch (const std::exception& failure) { // a full disk must not take the table from the terminal
        collectors::print_safely(stderr, "gradburst: {}\n", failure.what());
        written = false;
    }
    if (launch_.settings().json)
        collectors::print_safely("{}", json);
    else
        collectors::print_safely(
            "{}kept in {}: sweep.json, jobs.json, and a launch directory for each step\n",
            sweep_text(nlohmann::ordered_json::parse(json)), path().string());
    std::fflush(stdout);
    return written;
}

} // namespace generator
