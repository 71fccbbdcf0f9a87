#include "generator/launch_step.hpp"

#include "collectors/printable.hpp"
#include "collectors/units.hpp"
#include "generator/cpu_seconds.hpp"
#include "generator/launch_start.hpp"
#include "generator/results.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fstream>
#include <sstream>

namespace generator {
namespace {

using namespace std::chrono_literals;

constexpr auto start_delay = 100ms;          // from agreement to iteration 0
constexpr auto patience_after_end = 60s;     // for the results of slow hosts
constexpr auto patience_after_failure = 10s; // for ranks that have yet to notice
constexpr auto reports_after_stop = 500ms;   // for all ranks to hear of it and to answer
constexpr auto background_patience = 5s;     // for its last bytes, and for peers whose iterations end later
constexpr auto others_after_stop = 200ms;    // for the ranks of other jobs to hear of it
constexpr int go_on = -1;                    // in place of the launch's exit code: another step follows

std::string read_file(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream content;
    content << file.rdbuf();
    return content.str();
}

std::optional<nanoseconds> shorter(const std::optional<nanoseconds>& a, const std::optional<nanoseconds>& b) {
    return !a ? b : !b ? a : std::min(a, b);
}

/// The launch as if it had these jobs alone.
LaunchAgreement part_of(const LaunchAgreement& launch, const std::vector<std::size_t>& jobs) {
    LaunchAgreement part = launch;
    part.jobs.clear();
    part.own_job.reset();
    for (const std::size_t job : jobs) {
        if (launch.own_job == job)
            part.own_job = part.jobs.size();
        part.jobs.push_back(launch.jobs.at(job));
    }
    return part;
}

} // namespace

LaunchStep::LaunchStep(LaunchLinks& links, const LaunchAgreement& launch, std::vector<std::size_t> jobs,
                       LaunchRecord record)
    : links_(links), jobs_(std::move(jobs)), launch_(part_of(launch, jobs_)), record_(std::move(record)),
      context_(1) {
    for (const Agreement& job : launch.jobs)
        all_members_.push_back(job.members);
}

void LaunchStep::create_directory(const std::string& wanted, bool overwrite) {
    ControlPlane& control = links_.control;
    const std::string out = control.broadcast(wanted.empty() ? default_run_directory() : wanted);
    record_.id = control.broadcast(leads() ? random_run_id() : "");
    record_.started_at = utc_now();
    stamp();
    control.together([&] {
        if (!leads())
            return;
        directory_ = RunDirectory::create(out, overwrite);
        if (several() && !record_.of_sweep)
            directory_->write("jobs.json", launch_.jobs_text);
        for (Agreement& job : launch_.jobs)
            directories_.push_back(several() ? directory_->of_job(job.record.job) : *directory_);
        write_labels();
    });
    control.together([&] {
        if (!leads())
            directory_ = RunDirectory::join(out);
    });
    const char* const marked = several() ? "launch.json" : "run.json";
    shares_files_ = read_file(directory_->path() / marked).find(record_.id) != std::string::npos;
}

void LaunchStep::stamp() {
    for (Agreement& job : launch_.jobs) {
        job.record.run_id = record_.id;
        job.record.started_at = record_.started_at;
        job.record.error =
            "the run did not end (all ranks killed, machine stopped), or its results could not "
            "be written (disk full)";
    }
}

void LaunchStep::take(const LaunchAgreement& launch) {
    launch_ = part_of(launch, jobs_);
    stamp();
}

void LaunchStep::fail_together(const JointFailure& failure) {
    label(failure.exit_code() == interrupted ? RunStatus::interrupted : RunStatus::failed, failure.what());
    if (directory_ && leads() && settings().json && !record_.of_sweep)
        collectors::print_safely("{}", several() ? launch_json(record_, job_results(launch_))
                                                 : run_json(launch_.jobs.front().record));
    links_.control.agree_on_exit(failure.exit_code(), patience(patience_after_failure, stop_grace));
}

/// How the run ended, as far as rank 0 knows: in case that it is killed before the results are written.
void LaunchStep::label(RunStatus status, const std::string& error) {
    if (!leads() || !directory_)
        return;
    for (Agreement& job : launch_.jobs) {
        job.record.status = status;
        job.record.error = error;
    }
    try {
        write_labels();
    } catch (const std::exception&) { // the older label stays
    }
}

void LaunchStep::write_labels() {
    for (std::size_t i = 0; i < directories_.size(); ++i)
        directories_[i].write("run.json", run_json(launch_.jobs[i].record));
    if (several())
        directory_->write("launch.json", launch_json(record_, job_results(launch_)));
}

void LaunchStep::note_clocks() {
    const std::vector<ClockAlignment> clocks = links_.clocks->by_rank();
    for (Agreement& job : launch_.jobs) {
        job.record.clocks.clear();
        for (const int member : job.members)
            job.record.clocks.push_back(clocks[static_cast<std::size_t>(member)]);
    }
}

std::optional<int> LaunchStep::run(std::vector<nanoseconds> offsets,
                                   std::vector<std::optional<nanoseconds>> limits,
                                   const Conclusion& conclude) {
    record_.offsets = std::move(offsets);
    record_.limits = std::move(limits);
    note_clocks();
    start_sampling();
    return finish(takes_part() ? send_traffic() : stand_by(), conclude);
}

void LaunchStep::start_sampling() {
    nanoseconds interval = launch_.jobs.front().record.profile.sampling.interval;
    for (const Agreement& job : launch_.jobs)
        interval = std::min(interval, job.record.profile.sampling.interval);
    links_.control.together([&] {
        sampling_.emplace(links_.control.rank(), launch_.ranks, launch_.sampled, directory_->path(), interval,
                          settings().overwrite);
        if (const auto place = leads() ? testbed_switch() : std::nullopt)
            switch_sampling_.emplace(*place, directory_->path(), interval, settings().overwrite);
    });
}

std::unique_ptr<Payload> LaunchStep::payload() {
    if (!profile().run.verify)
        return discarded_payload();
    return verified_payload(job_rank(), links_.job_control->world_size(), own().workload);
}

EngineSettings LaunchStep::engine_settings(const Clock::time_point& start, Progress* progress) {
    EngineSettings settings;
    settings.rank = job_rank();
    settings.world_size = links_.job_control->world_size();
    settings.stop_descriptor = links_.stop.descriptor();
    settings.stop_signal = [this] { return links_.stop.signal(); };
    if (profile().sampling.tcp_info)
        settings.tcp_log = &tcp_log_;
    if (progress != nullptr)
        settings.on_iteration = [progress](const IterationRecord& record) { progress->show(record); };
    if (links_.background)
        settings.on_end = [this] { links_.background->stop_sending(); };
    const std::optional<std::uint32_t> iterations = profile().run.iterations;
    const std::optional<nanoseconds> duration =
        shorter(profile().run.duration, record_.limits[*launch_.own_job]);
    settings.may_start = [this, iterations, duration, &start,
                          previous = 0ns](std::uint32_t iteration) mutable {
        if (!duration)
            return iteration < *iterations;
        const nanoseconds elapsed = Clock::now() - start;
        const nanoseconds expected_next = elapsed + (elapsed - previous);
        previous = elapsed;
        return links_.job_control->decide_iteration(iteration, (!iterations || iteration + 1 < *iterations) &&
                                                                   expected_next < *duration);
    };
    return settings;
}

LaunchStep::Clock::time_point LaunchStep::agree_on_start() {
    const Clock::time_point start = agree_on_launch_start(links_, record_, launch_.ranks, start_delay);
    if (record_.start_at && leads() && !settings().json)
        collectors::print_safely("{}", start_at_text(*record_.start_at));
    std::fflush(stdout);
    return start;
}

/// Everything between the agreement on the start and the last byte: no MPI here.
RankReport LaunchStep::send_traffic() {
    RankReport report;
    std::optional<Progress> progress;
    if (job_rank() == 0 && !settings().json)
        progress.emplace(own().record.job, profile().run.iterations, profile().run.duration);
    payload_ = payload();
    Clock::time_point start;
    engine_ = std::make_unique<Engine>(
        context_, profile(), own().workload, moved_to(context_, std::move(links_.connections)),
        own().record.endpoints, *payload_, engine_settings(start, progress ? &*progress : nullptr));
    report.sockets = engine_->socket_state();
    const Clock::time_point launch_start = agree_on_start();
    start = launch_start + record_.offsets[*launch_.own_job];
    run_engine(start, report);
    if (several()) {
        if (job_rank() == 0)
            collectors::print_safely(stderr, "{} | {} after {}{}{}\n", own().record.job,
                                     status_name(report.status),
                                     collectors::format_duration(Clock::now() - start),
                                     report.error.empty() ? "" : ": ", report.error);
        wait_for_other_jobs(report.status == RunStatus::complete);
    }
    note_start(launch_start);
    keep_traces(report);
    report.tcp_lines = tcp_lines(tcp_log_);
    report.tcp_left_out_from = tcp_log_.left_out_from;
    return report;
}

void LaunchStep::run_engine(Clock::time_point start, RankReport& report) {
    const double cpu_before = cpu_seconds();
    if (links_.background)
        links_.background->start(start);
    try {
        engine_->run(start, report.timeline);
    } catch (const Stopped& stopped) {
        report.status = RunStatus::interrupted;
        report.error = stopped.what();
        links_.stop.request(stopped.signal()); // which may have come to another rank
        label(report.status, report.error);
    } catch (const PeerLeft& left) {
        report.status = RunStatus::failed;
        report.error = left.what();
        report.lost_peer = left.peer();
    } catch (const std::exception& error) {
        report.status = RunStatus::failed;
        report.error = error.what();
    }
    report.checked_elements = engine_->checked_elements();
    if (report.status != RunStatus::complete)
        engine_.reset(); // the peers notice at once
    if (links_.background)
        report.background = end_background(report.status == RunStatus::complete);
    report.cpu_seconds = cpu_seconds() - cpu_before;
    report.traffic_seconds = collectors::in_seconds(Clock::now() - start);
}

BackgroundReport LaunchStep::end_background(bool complete) {
    BackgroundReport report = links_.background->end(complete ? background_patience : 0ns,
                                                     [this] { return links_.stop.signal() == 0; });
    links_.background.reset();
    return report;
}

/// A rank of a job that takes no part: its host may be one of those that are sampled.
RankReport LaunchStep::stand_by() {
    RankReport report;
    agree_on_start();
    wait_for_other_jobs(true);
    keep_traces(report);
    return report;
}

/// Their traffic is in this host's counters, and their ranks are still there.
void LaunchStep::wait_for_other_jobs(bool complete) {
    gone_ = links_.lifelines.wait_for_all(complete, all_members_, others_after_stop);
}

/// By the wall clock of now: had it been set since, it shows.
void LaunchStep::note_start(Clock::time_point start) {
    if (!record_.start_at)
        return;
    record_.start_at->began = WallTime(std::chrono::system_clock::now()) - (Clock::now() - start);
    for (Agreement& job : launch_.jobs)
        job.record.start_at = record_.start_at;
}

void LaunchStep::keep_traces(RankReport& report) {
    NicRecording recording = sampling_->stop(report.error.empty() ? "the run ended" : report.error);
    for (const NicTrace& trace : recording.traces) {
        report.traces.push_back(recorded(trace.file, trace.cpu_share));
        if (!trace.slow_file.empty())
            report.traces.push_back(recorded(trace.slow_file, 0));
    }
    report.warnings = std::move(recording.warnings);
    if (!recording.errors.empty() && report.status == RunStatus::complete) {
        report.status = RunStatus::failed;
        report.error =
            fmt::format("the NIC's counters could not be kept: {}", fmt::join(recording.errors, "; "));
    }
}

RecordedTrace LaunchStep::recorded(const std::filesystem::path& file, double cpu_share) const {
    const std::filesystem::path path = directory_->path() / file;
    return {file.string(), shares_files_ ? "" : read_file(path),
            shares_files_ ? "" : read_file(collectors::sidecar_path(path)), cpu_share};
}

/// For others: so long, but only so long after a stop.
ControlPlane::Patience LaunchStep::patience(nanoseconds limit, nanoseconds after_stop) {
    return [this, until = Clock::now() + limit, after_stop] {
        return Clock::now() < until && !links_.stop.requested_for(after_stop);
    };
}

/// Results to rank 0, which reports; then all go on, or leave with its exit code, nobody earlier: once a rank
/// has left, mpirun kills the others.
std::optional<int> LaunchStep::finish(const RankReport& report, const Conclusion& conclude) {
    const nanoseconds limit = report.status == RunStatus::complete ? nanoseconds(patience_after_end)
                                                                   : nanoseconds(patience_after_failure);
    ControlPlane& control = links_.control;
    const auto texts = control.collect(serialize(report), patience(limit, reports_after_stop), gone_);
    const bool all_answered =
        std::all_of(texts.begin(), texts.end(), [](const auto& text) { return text.has_value(); });
    int exit_code = our_failure;
    if (leads()) { // all have reported or given up: nobody sends any more
        links_.clocks->measure_end([this] { return !links_.stop.requested_for(reports_after_stop); });
        note_clocks();
        results_.emplace(launch_, record_, *directory_, directories_, links_.stop);
        exit_code = conclude(results_->conclude(texts, switch_sampling_)).value_or(go_on);
    }
    const std::optional<int> agreed = control.agree_on_exit(exit_code, patience(limit, stop_grace));
    if (agreed == go_on) {
        if (engine_)
            links_.connections = moved_to(links_.context, engine_->take_connections());
        engine_.reset();
        return std::nullopt;
    }
    if (!agreed && !report.error.empty())
        collectors::print_safely(stderr, "gradburst: {}\n", report.error); // rank 0 is gone: say it here
    // MPI_Finalize might wait for a rank that is gone, or for an mpirun that is busy with stopping us.
    if (!agreed || !all_answered || *agreed != success || links_.stop.signal() != 0)
        links_.session.abandon(agreed.value_or(our_failure));
    return *agreed;
}

} // namespace generator
