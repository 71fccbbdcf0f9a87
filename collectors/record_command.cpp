#include "collectors/commands.hpp"
#include "collectors/interface_selection.hpp"
#include "collectors/monotonic_clock.hpp"
#include "collectors/queue_lane.hpp"
#include "collectors/rdma_counters.hpp"
#include "collectors/record_summary.hpp"
#include "collectors/sampler.hpp"
#include "collectors/stop_signals.hpp"

#include <algorithm>
#include <cstring>
#include <system_error>

#include <sched.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace collectors {

namespace {

/// What is recorded: an interface and its trace.
struct Target {
    NetworkInterface interface;
    std::filesystem::path trace_path;
};

std::vector<Target> targets_of(const RecordSettings& settings) {
    const InterfaceSelection selection = select_interfaces(settings.interfaces, settings.folders);
    std::vector<Target> targets;
    for (const NetworkInterface& interface : selection.interfaces)
        targets.push_back({interface, trace_path_of(settings.trace_path, interface.name, selection.single)});
    for (const NetworkInterface& interface : selection.interfaces)
        if (interface.state == "down")
            fmt::print(stderr, "WARNING: {} IS DOWN: there will be no traffic to see\n", interface.name);
    for (const std::string& sentence : shared_traffic(selection.interfaces))
        fmt::print(stderr, "WARNING: {}\n", sentence);
    return targets;
}

void warn_about_affinity() {
    cpu_set_t allowed;
    if (::sched_getaffinity(0, sizeof allowed, &allowed) == 0 && CPU_COUNT(&allowed) == 1)
        fmt::print(
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
        if (wait_ns <= 0)
            return "duration";
        if (const int signal = signals.wait(wait_ns); signal != 0)
            return fmt::format("signal {}", signal);
    }
    return "failed";
}

/// A wrong path is found before anything is recorded: the user's mistake, not a failure later on.
template <typename Start>
auto checking_paths(Start start) {
    try {
        return start();
    } catch (const std::system_error& error) {
        const char* hint = error.code() == std::errc::file_exists
                               ? "; choose another --out, or --overwrite to replace it"
                               : "; check --out";
        throw UsageError(error.what() + std::string(hint));
    }
}

std::unique_ptr<Sampler> start_sampler(const RecordSettings& settings, const std::vector<Target>& targets) {
    std::vector<SamplerSource> sources;
    for (const Target& target : targets) {
        TraceInfo info;
        info.host = host_name();
        info.interface = target.interface.name;
        info.byte_unit = byte_unit(target.interface);
        info.driver = target.interface.driver;
        if (!is_rdma_port(target.interface.name))
            info.side = counter_side(target.interface.name);
        ChosenSource chosen = choose_source(target.interface.name, settings.source, settings.folders);
        info.source_reason = chosen.reason;
        sources.push_back({std::move(chosen.source), target.trace_path, std::move(info)});
    }
    SamplerOptions options;
    options.interval = settings.interval;
    options.overwrite = settings.overwrite;
    return checking_paths([&] { return std::make_unique<Sampler>(std::move(sources), options); });
}

std::unique_ptr<Lane> start_queues(const RecordSettings& settings, const std::vector<Target>& targets) {
    if (!settings.queue)
        return nullptr;
    std::vector<std::string> names;
    std::vector<std::filesystem::path> paths;
    for (const Target& target : targets) {
        if (is_rdma_port(target.interface.name))
            throw UsageError("--queue: " + target.interface.name +
                             " is an RDMA port, without a queue of the kernel");
        names.push_back(target.interface.name);
        paths.push_back(queue_path(target.trace_path));
    }
    auto reader = std::make_unique<QueueReader>(names);
    return checking_paths([&] {
        return start_queue_lane(std::move(reader), paths, settings.queue_interval, settings.overwrite);
    });
}

void print_start(const RecordSettings& settings, const std::vector<Target>& targets) {
    std::vector<std::string> names;
    std::vector<std::string> paths;
    for (const Target& target : targets) {
        names.push_back(target.interface.name);
        paths.push_back(target.trace_path.string());
    }
    fmt::print(stderr, "recording {} every {} to {}, {}; SIGINT stops\n", fmt::join(names, ", "),
               format_duration(settings.interval), fmt::join(paths, ", "),
               settings.duration ? "for " + format_duration(*settings.duration) : "until stopped");
}

/// True if all devices were still there at the end.
bool print_results(const std::vector<Target>& targets, const SamplerReport& report,
                   const std::string& reason) {
    bool all_there = true;
    for (std::size_t i = 0; i < targets.size(); ++i) {
        const SourceReport& source = report.sources[i];
        if (source.error.empty())
            print_trace_summary(targets[i].trace_path, source, reason);
        if (source.last_error == 0)
            continue;
        all_there = false;
        fmt::print(
            stderr,
            "error: reading the counters of {} failed at the end ({}); the trace holds what came before\n",
            targets[i].interface.name, std::strerror(source.last_error));
    }
    fmt::print("the sampler used {:.1f} % of a CPU\n", 100 * report.cpu_share);
    return all_there;
}

void print_queue_results(const std::vector<Target>& targets, const LaneReport& report) {
    for (std::size_t i = 0; i < targets.size(); ++i)
        if (report.files[i].error.empty())
            print_queue_summary(targets[i].trace_path, report.files[i]);
    fmt::print("the queue's lane used {:.1f} % of a CPU\n", 100 * report.cpu_share);
}

} // namespace

int record_command(const RecordSettings& settings) {
    StopSignals signals;
    const std::vector<Target> targets = targets_of(settings);
    warn_about_affinity();
    const std::unique_ptr<Lane> queues = start_queues(settings, targets);
    const std::unique_ptr<Sampler> sampler = start_sampler(settings, targets);
    print_start(settings, targets);
    const std::string reason = wait_for_end(*sampler, signals, settings.duration);
    signals.release(); // a second signal is immediate
    const SamplerReport report = sampler->stop(reason);
    const LaneReport queue_report = queues ? queues->stop() : LaneReport{};
    const bool all_there = print_results(targets, report, reason);
    if (queues)
        print_queue_results(targets, queue_report);
    report.require_written();
    queue_report.require_written();
    return all_there ? 0 : 1;
}

} // namespace collectors
