#include "collectors/commands.hpp"
#include "collectors/interfaces.hpp"
#include "collectors/monotonic_clock.hpp"
#include "collectors/queue_lane.hpp"
#include "collectors/sampler.hpp"
#include "collectors/summary.hpp"
#include "collectors/sysfs_counters.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <set>
#include <system_error>

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <fmt/format.h>

namespace collectors {

namespace {

/// Holds back the signals that end a recording, so that they are waited for and never interrupt. After
/// `release` the next one ends the program at once.
class StopSignals {
public:
    StopSignals() {
        ::sigemptyset(&signals_);
        for (const int signal : {SIGINT, SIGTERM, SIGHUP})
            ::sigaddset(&signals_, signal);
        ::pthread_sigmask(SIG_BLOCK, &signals_, &before_);
        // A shell script starts background programs with SIGINT ignored; `kill -INT` must end them all the
        // same. SIGHUP stays as it is, for nohup.
        ::signal(SIGINT, SIG_DFL);
    }
    ~StopSignals() { release(); }
    StopSignals(const StopSignals&) = delete;
    StopSignals& operator=(const StopSignals&) = delete;

    /// The number of the signal that came, 0 after `timeout_ns`.
    int wait(std::int64_t timeout_ns) const {
        const timespec timeout{timeout_ns / 1'000'000'000, timeout_ns % 1'000'000'000};
        return std::max(0, ::sigtimedwait(&signals_, nullptr, &timeout));
    }

    void release() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

private:
    sigset_t signals_{};
    sigset_t before_{};
};

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

std::unique_ptr<Sampler> start_sampler(const RecordSettings& settings, const NetworkInterface& interface) {
    TraceInfo info;
    info.host = host_name();
    info.interface = interface.name;
    info.byte_unit = byte_unit(interface);
    info.driver = interface.driver;
    info.side = counter_side(interface.name);
    SamplerOptions options;
    options.interval = settings.interval;
    options.overwrite = settings.overwrite;
    options.max_samples = settings.max_samples;
    options.rotate = settings.rotate;
    try {
        return std::make_unique<Sampler>(std::make_unique<SysfsCounters>(interface.name), settings.trace_path,
                                         info, options);
    } catch (const std::system_error& error) {
        // Found before anything is recorded: a wrong path, not a failure later on.
        const char* hint = error.code() == std::errc::file_exists
                               ? "; choose another --out, or --overwrite to replace it"
                               : "; check --out";
        throw UsageError(error.what() + std::string(hint));
    }
}

std::unique_ptr<QueueLane> start_queue_lane(const RecordSettings& settings,
                                            const NetworkInterface& interface) {
    if (!settings.queue)
        return nullptr;
    return std::make_unique<QueueLane>(std::make_unique<QueueReader>(interface.name), interface.name,
                                       queue_path(settings.trace_path), settings.queue_interval,
                                       settings.overwrite);
}

void print_queue_summary(const RecordSettings& settings, const QueueLane::Report& report) {
    const QueueTrace trace = read_queue_trace(queue_path(settings.trace_path));
    std::uint64_t most = 0;
    for (const QueueSample& sample : trace.samples)
        most = std::max(most, sample.backlog_bytes);
    fmt::print(
        "queue {}: {} readings in {}, {} failed; largest backlog {}, {} drops; lane used {:.1f} % of a CPU\n",
        trace.kind, report.samples, queue_path(settings.trace_path).string(), report.failed,
        format_bytes(static_cast<double>(most)),
        trace.samples.empty() ? 0 : trace.samples.back().drops - trace.samples.front().drops,
        100 * report.cpu_share);
}

void warn_about_affinity() {
    cpu_set_t allowed;
    if (::sched_getaffinity(0, sizeof allowed, &allowed) == 0 && CPU_COUNT(&allowed) == 1)
        fmt::print(
            stderr,
            "WARNING: ONE CPU ONLY: the sampler shares it with whatever runs there and will come late\n");
}

void print_summary(const RecordSettings& settings, const SamplerReport& report, const std::string& reason) {
    const auto summaries = summarize(read_trace_info(settings.trace_path), blocks_of(settings.trace_path),
                                     std::array{Direction::rx, Direction::tx}, {});
    const InterfaceSummary& rx = summaries[0];
    const InterfaceSummary& tx = summaries[1];
    fmt::print("{}: {} samples in {} ({}); {} missed, {} failed, {} gaps; sampler used {:.1f} % of a CPU\n",
               settings.trace_path.string(), report.samples, format_duration(rx.quality.span), reason,
               report.missed, report.failed, rx.quality.gaps.count, 100 * report.cpu_share);
    for (const InterfaceSummary* summary : {&rx, &tx})
        fmt::print("{}  {}, mean {}; resolved from {}\n", to_text(summary->direction),
                   format_bytes(static_cast<double>(summary->nic_bytes)),
                   format_bit_rate(summary->mean_bits_per_second),
                   format_duration(summary->curve.resolved_from));
    std::set<std::string> warnings(rx.warnings.begin(), rx.warnings.end());
    warnings.insert(tx.warnings.begin(), tx.warnings.end());
    for (const std::string& warning : warnings)
        fmt::print(stderr, "WARNING: {}\n", warning);
    fmt::print("next: gradburst-collect report {}\n", settings.trace_path.string());
}

} // namespace

int record_command(const RecordSettings& settings) {
    StopSignals signals;
    const NetworkInterface interface = describe_interface(settings.interface);
    if (interface.state == "down")
        fmt::print(stderr, "WARNING: {} IS DOWN: there will be no traffic to see\n", interface.name);
    warn_about_affinity();

    const std::unique_ptr<Sampler> sampler = start_sampler(settings, interface);
    const std::unique_ptr<QueueLane> queue = start_queue_lane(settings, interface);
    fmt::print(stderr, "recording {} every {} to {}, {}; SIGINT stops\n", interface.name,
               format_duration(settings.interval), settings.trace_path.string(),
               settings.duration ? "for " + format_duration(*settings.duration) : "until stopped");
    const std::string reason = wait_for_end(*sampler, signals, settings.duration);
    signals.release(); // a second signal is immediate
    const SamplerReport report = sampler->stop(reason);
    print_summary(settings, report, reason);
    if (queue)
        print_queue_summary(settings, queue->stop());
    if (report.last_error != 0) {
        fmt::print(
            stderr,
            "error: reading the counters of {} failed at the end ({}); the trace holds what came before\n",
            interface.name, std::strerror(report.last_error));
        return 1;
    }
    return 0;
}

} // namespace collectors
