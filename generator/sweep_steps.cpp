#include "generator/sweep_steps.hpp"

#include "generator/predicted_results.hpp"
#include "generator/schedule.hpp"
#include "generator/start_offsets.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include <fmt/format.h>

namespace generator {
namespace {

using namespace std::chrono_literals;

const SweepStep* step_alone(const SweepRecord& sweep, const std::string& job) {
    const auto found = std::find_if(sweep.steps.begin(), sweep.steps.end(),
                                    [&](const SweepStep& step) { return step.alone == job; });
    return found == sweep.steps.end() ? nullptr : &*found;
}

/// Of an iteration after the first.
nanoseconds expected_alone(const Agreement& job) {
    constexpr std::uint32_t iterations = 4;
    const nanoseconds compute = iteration_schedule(job.record.profile, job.workload, 0, 1).compute;
    try {
        const auto prediction = predicted_alone(job.record, job.workload, iterations);
        if (prediction && !prediction->iteration_times.empty())
            return std::max(compute, prediction->iteration_times.back());
    } catch (const UserError&) { // the model has its limits
    }
    return compute;
}

/// Those that all ranks finished.
std::vector<IterationSpan> spans_of(const JobResult& job, std::int64_t start_monotonic_ns) {
    std::vector<IterationSpan> spans;
    for (std::uint32_t i = 0; i < job.record.statistics.finished_iterations; ++i) {
        const auto start = iteration_start(job, i, start_monotonic_ns);
        if (!start)
            break;
        IterationSpan span{*start, {}, i >= job.record.profile.run.warmup};
        for (const std::optional<RankReport>& report : job.reports) {
            const IterationRecord& record = report->timeline.iterations[i];
            span.length = std::max(span.length, nanoseconds(record.end_ns - record.start_ns));
        }
        spans.push_back(span);
    }
    return spans;
}

std::string place_of(const collectors::InterfaceSummary& summary) {
    return fmt::format("{}.{} {}", summary.host, summary.interface, collectors::to_text(summary.direction));
}

std::optional<SweepRatio> most_loaded(const std::vector<JobResult>& jobs) {
    const collectors::InterfaceSummary* most = nullptr;
    for (const JobResult& job : jobs)
        for (const InterfaceResult& each : job.record.interfaces)
            if (most == nullptr || each.summary.mean_bits_per_second > most->mean_bits_per_second)
                most = &each.summary;
    if (most == nullptr || most->nic_bytes == 0)
        return std::nullopt;
    SweepRatio ratio{place_of(*most), most->mean_bits_per_second, {}};
    for (const collectors::BurstinessPoint& point : most->curve.points)
        if (point.window == sweep_window && point.resolved)
            ratio.ratio = collectors::peak_to_mean(most->curve, point);
    return ratio;
}

/// A queue that was read is worth more than one that is computed.
std::optional<SweepBacklog> longest_queue(const std::vector<JobResult>& jobs) {
    std::optional<SweepBacklog> longest;
    const auto consider = [&](SweepBacklog backlog) {
        if (!longest || backlog.bytes.estimate > longest->bytes.estimate)
            longest = std::move(backlog);
    };
    for (const JobResult& job : jobs)
        for (const SwitchPortResult& port : job.record.switch_ports)
            if (port.queue_samples > 0) {
                const auto bytes = static_cast<double>(port.max_backlog_bytes);
                consider(
                    {fmt::format("switch port {} to {}", port.port, port.host), {bytes, bytes, bytes}, {}});
            }
    if (longest)
        return longest;
    for (const JobResult& job : jobs)
        for (const InterfaceResult& each : job.record.interfaces)
            if (job.record.line_rate && !each.summary.backlog.empty()) { // else the rates differ by step
                const collectors::BacklogPoint& point = each.summary.backlog.back(); // of the fastest link
                consider({place_of(each.summary), point.bytes, point.rate});
            }
    return longest;
}

/// Of interfaces and ports that jobs share once. nullopt: no counter was read, or one not to its end.
std::optional<std::int64_t> all_drops(const std::vector<JobResult>& jobs) {
    std::map<std::string, std::optional<std::int64_t>> by_counter;
    for (const JobResult& job : jobs) {
        for (const SlowLaneResult& lane : job.record.slow_lanes)
            for (const std::string_view counter : {"rx_drops", "tx_drops", "queue_drops"})
                if (const collectors::SlowTotal* const total = lane.total(counter))
                    by_counter[fmt::format("{} {}", lane.file, counter)] = total->total;
        for (const SwitchPortResult& port : job.record.switch_ports) {
            std::optional<std::int64_t>& drops = by_counter[port.port]; // each job has those of its own time
            drops = std::max(drops.value_or(0), static_cast<std::int64_t>(port.drops));
        }
    }
    std::optional<std::int64_t> sum;
    for (const auto& [counter, drops] : by_counter) {
        if (!drops)
            return std::nullopt;
        sum = sum.value_or(0) + *drops;
    }
    return sum;
}

/// nullopt: of some job they are not known.
std::optional<std::int64_t> all_retransmits(const std::vector<JobResult>& jobs) {
    std::int64_t sum = 0;
    for (const JobResult& job : jobs) {
        if (!job.record.tcp || !job.record.tcp->retransmitted_segments)
            return std::nullopt;
        sum += *job.record.tcp->retransmitted_segments;
    }
    return sum;
}

void add_end(SweepStep& step, const std::vector<JobResult>& jobs) {
    step.status = RunStatus::complete;
    for (const JobResult& job : jobs) {
        const RunStatus status = job.record.status;
        if (status == RunStatus::complete || step.status == RunStatus::interrupted)
            continue;
        step.status = status;
        step.error = fmt::format("job {}: {}", job.record.job, job.record.error);
    }
}

void add_jobs(SweepStep& step, const std::vector<JobResult>& jobs,
              const std::vector<std::vector<IterationSpan>>& counted, const LaunchRecord& launch,
              const SweepRecord& so_far) {
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        const RunRecord& record = jobs[i].record;
        SweepJob job{record.job,
                     record.statistics.finished_iterations,
                     static_cast<std::uint32_t>(counted[i].size()),
                     median_length(counted[i]),
                     {}};
        const auto alone = p50_alone(so_far, job.name);
        if (step.alone.empty() && job.p50 && alone && *alone > 0ns)
            job.interference = collectors::in_seconds(*job.p50) / collectors::in_seconds(*alone);
        step.jobs.push_back(std::move(job));
        const bool fewer = record.profile.run.iterations &&
                           record.statistics.finished_iterations < *record.profile.run.iterations;
        if (record.status == RunStatus::complete && fewer && i < launch.limits.size() && launch.limits[i])
            step.cut_off = std::max(step.cut_off.value_or(0ns), *launch.limits[i]);
    }
}

std::size_t number_of(const std::vector<JobResult>& jobs, const std::string& name) {
    return static_cast<std::size_t>(
        std::find_if(jobs.begin(), jobs.end(), [&](const JobResult& job) { return job.record.job == name; }) -
        jobs.begin());
}

} // namespace

std::vector<PlannedStep> planned_steps(const LaunchAgreement& launch) {
    std::vector<PlannedStep> steps;
    std::vector<std::size_t> all(launch.jobs.size());
    std::iota(all.begin(), all.end(), 0);
    for (const std::size_t job : all)
        steps.push_back({"alone-" + launch.jobs[job].record.job, {job}, {}});
    for (std::uint32_t i = 0; i < launch.sweep->range.count; ++i)
        steps.push_back({fmt::format("offset-{:02}", i + 1), all, i});
    return steps;
}

std::vector<nanoseconds> shifted_starts(const LaunchAgreement& launch, nanoseconds offset) {
    std::vector<Agreement> jobs = launch.jobs;
    jobs[launch.sweep->roles.reference].start = {};
    jobs[launch.sweep->roles.shifted].start = {};
    jobs[launch.sweep->roles.shifted].start.offset = offset;
    return start_offsets(jobs);
}

std::optional<nanoseconds> alone_limit(const Agreement& job) {
    const RunSettings& run = job.record.profile.run;
    if (run.duration)
        return std::nullopt;
    return 60s + 10 * static_cast<std::int64_t>(*run.iterations) * expected_alone(job);
}

std::optional<nanoseconds> together_limit(const Agreement& job, const SweepRecord& so_far, std::size_t jobs) {
    const RunSettings& run = job.record.profile.run;
    const auto alone = p50_alone(so_far, job.record.job);
    if (run.duration || !alone)
        return std::nullopt;
    return 10s + 4 * static_cast<std::int64_t>(jobs * *run.iterations) * *alone;
}

std::optional<nanoseconds> p50_alone(const SweepRecord& sweep, const std::string& job) {
    const SweepStep* const step = step_alone(sweep, job);
    return step == nullptr || step->jobs.empty() ? std::nullopt : step->jobs.front().p50;
}

SweepStep sweep_step(const PlannedStep& planned, std::optional<nanoseconds> asked, const LaunchRecord& launch,
                     const std::vector<JobResult>& jobs, const SweepRecord& so_far) {
    SweepStep step;
    step.directory = planned.directory;
    step.alone = planned.turn ? "" : jobs.front().record.job;
    step.asked = asked;
    add_end(step, jobs);
    std::vector<std::vector<IterationSpan>> spans;
    for (const JobResult& job : jobs)
        spans.push_back(spans_of(job, launch.start_monotonic_ns));
    const std::vector<std::vector<IterationSpan>> counted = measured_together(spans);
    add_jobs(step, jobs, counted, launch, so_far);
    if (asked && so_far.period) {
        step.held = held_offset(spans.at(number_of(jobs, so_far.reference)),
                                counted.at(number_of(jobs, so_far.shifted)), *asked, *so_far.period);
        if (step.held)
            step.offset_was_held = is_held(*step.held, *asked, *so_far.period);
    }
    step.ratio = most_loaded(jobs);
    step.backlog = longest_queue(jobs);
    step.drops = all_drops(jobs);
    step.retransmits = all_retransmits(jobs);
    return step;
}

} // namespace generator
