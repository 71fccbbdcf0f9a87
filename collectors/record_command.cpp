#include "collectors/commands.hpp"
#include "collectors/monotonic_clock.hpp"
#include "collectors/printable.hpp"
#include "collectors/record_setup.hpp"
#include "collectors/record_summary.hpp"
#include "collectors/sampling_thread.hpp"
#include "collectors/stop_signals.hpp"
#include "collectors/summary_warnings.hpp"
#include "collectors/trace_file.hpp"

#include <algorithm>
#include <cstring>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace collectors {

namespace {

void warn_about_affinity() {
    if (allowed_cpus().size() == 1)
        print_safely(
            stderr,
            "WARNING: ONE CPU ONLY: the sampler shares it with whatever runs there and will come late\n");
}

/// Why the recording ends.
std::string wait_for_end(const Sampler& sampler, const StopSignals& signals,
                         std::optional<std::chrono::nanoseconds> duration) {
    constexpr std::int64_t look_every_ns = 100'000'000; // for a disk that is full
    const std::int64_t start = clock_ns();
    while (!sampler.failed()) {
        std::int64_t wait_ns = look_every_ns;
        if (duration)
            wait_ns = std::min(wait_ns, duration->count() - (clock_ns() - start));
        if (sampler.full())
            return "max-samples";
        if (wait_ns <= 0)
            return "duration";
        if (const int signal = signals.wait(wait_ns); signal != 0)
            return fmt::format("signal {}", signal);
    }
    return "failed";
}

void print_start(const RecordSettings& settings, const std::vector<Target>& targets) {
    std::vector<std::string> names;
    std::vector<std::string> paths;
    for (const Target& target : targets) {
        names.push_back(target.interface.name);
        paths.push_back(target.trace_path.string());
    }
    print_safely(stderr, "recording {} every {} to {}, {}; SIGINT stops\n", fmt::join(names, ", "),
                 format_duration(settings.interval), fmt::join(paths, ", "),
                 settings.duration ? "for " + format_duration(*settings.duration) : "until stopped");
}

/// True if all devices were still there at the end.
bool print_results(const std::vector<Target>& targets, const SamplerReport& report,
                   const std::string& reason) {
    bool all_there = true;
    std::vector<TraceInfo> traces;
    for (std::size_t i = 0; i < targets.size(); ++i) {
        const SourceReport& source = report.sources[i];
        if (source.error.empty()) {
            print_trace_summary(targets[i].trace_path, source, reason);
            traces.push_back(read_trace_info(targets[i].trace_path));
        }
        if (source.last_error == 0)
            continue;
        all_there = false;
        print_safely(stderr,
                     "error: reading the counters of {} failed at the end ({}{}); the trace holds what "
                     "came before\n",
                     targets[i].interface.name, std::strerror(source.last_error),
                     source.lost_from ? "; " + source.loss() : "");
    }
    for (const std::string& warning : warnings_about_hosts(traces))
        print_safely(stderr, "WARNING: {}\n", warning);
    print_safely("the sampler used {:.1f} % of a CPU, {}\n", 100 * report.sampler.cpu_share,
                 report.sampler.scheduling);
    return all_there;
}

/// That a lane ended before the recording.
void warn_about(const char* lane, const std::vector<LaneFileReport>& files) {
    std::set<std::string> reasons;
    for (const LaneFileReport& file : files)
        if (!file.gave_up.empty())
            reasons.insert(file.gave_up);
    for (const std::string& reason : reasons)
        print_safely(stderr, "WARNING: THE {} WAS GIVEN UP: {}\n", lane, reason);
}

void print_queue_results(const std::vector<Target>& targets, const LaneReport& report) {
    for (std::size_t i = 0; i < targets.size(); ++i)
        if (report.files[i].error.empty())
            print_queue_summary(targets[i].trace_path, report.files[i]);
    print_safely("the queue's lane used {:.1f} % of a CPU\n", 100 * report.cpu_share);
}

} // namespace

int record_command(const RecordSettings& settings) {
    StopSignals signals;
    options_of(settings);
    const std::vector<Target> targets = targets_of(settings);
    warn_about_affinity();
    const std::unique_ptr<PrometheusServer> server = start_server(settings, targets);
    const std::unique_ptr<Sampler> sampler = start_sampler(settings, targets, server.get());
    const std::unique_ptr<Lane> queues = start_queues(settings, targets);
    const std::unique_ptr<Lane> slow = start_slow(settings, targets);
    if (settings.fifo && !sampler->scheduling().starts_with("SCHED_FIFO"))
        print_safely(stderr, "WARNING: SCHED_FIFO WAS REFUSED: the sampler runs as {}\n",
                     sampler->scheduling());
    print_start(settings, targets);
    const std::string reason = wait_for_end(*sampler, signals, settings.duration);
    signals.release(); // a second signal is immediate
    const SamplerReport report = sampler->stop(reason);
    const LaneReport queue_report = queues ? queues->stop() : LaneReport{};
    const LaneReport slow_report = slow ? slow->stop() : LaneReport{};
    const bool all_there = print_results(targets, report, reason);
    if (queues)
        print_queue_results(targets, queue_report);
    warn_about("QUEUE'S LANE", queue_report.files);
    warn_about("SLOW LANE", slow_report.files);
    report.require_written();
    queue_report.require_written();
    slow_report.require_written();
    return all_there ? 0 : 1;
}

} // namespace collectors
