#include "collectors/sampler.hpp"

#include "collectors/file_output.hpp"
#include "collectors/monotonic_clock.hpp"
#include "collectors/sampling_thread.hpp"
#include "collectors/signals_blocked.hpp"
#include "collectors/tick_clock.hpp"
#include "collectors/units.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fmt/format.h>

namespace collectors {

namespace {

constexpr std::chrono::milliseconds write_every{100};
constexpr std::size_t block_samples = 4096;

} // namespace

void check_options(const SamplerOptions& options) {
    if (options.interval < shortest_sampling_interval || options.interval > longest_sampling_interval)
        throw std::invalid_argument(fmt::format(
            "the interval must be from {} to {}, is {}", format_duration(shortest_sampling_interval),
            format_duration(longest_sampling_interval), format_duration(options.interval)));
    if (options.fifo && options.interval < sleeping_from)
        throw std::invalid_argument(fmt::format(
            "SCHED_FIFO needs an interval of at least {}: below, the sampler spins, and the kernel "
            "stops a spinning real-time thread for 50 ms in each second",
            format_duration(sleeping_from)));
}

double SamplerReport::cpu_share_of_one() const {
    return sources.empty() ? 0 : sampler.cpu_share / static_cast<double>(sources.size());
}

void SamplerReport::require_written() const {
    std::vector<std::string> errors;
    for (const SourceReport& source : sources)
        errors.push_back(source.error);
    collectors::require_written(std::move(errors));
}

Sampler::Sampler(std::vector<SamplerSource> sources, const SamplerOptions& options) : options_(options) {
    check_options(options_);
    const TraceFileOptions file{
        .overwrite = options.overwrite, .max_samples = options.max_samples, .rotate = options.rotate};
    for (SamplerSource& source : sources)
        recordings_.emplace_back(std::move(source), options.ring_capacity, file);
    const SignalsBlocked inherited;
    std::promise<ClockMoment> promise;
    std::future<ClockMoment> started = promise.get_future();
    sampling_ = std::jthread([this, promise = std::move(promise)](const std::stop_token& stop) mutable {
        sample(stop, std::move(promise));
    });
    const ClockMoment start = started.get();
    writing_ = std::jthread([this, start](const std::stop_token& stop) { write(stop, start); });
}

Sampler::~Sampler() {
    stop("abandoned");
}

void Sampler::sample(const std::stop_token& stop, std::promise<ClockMoment> started) {
    try {
        report_.sampler.scheduling = prepare_sampling_thread(options_.fifo, options_.cpu);
    } catch (...) {
        started.set_exception(std::current_exception());
        return;
    }
    const TickClock clock(options_.interval.count());
    const ClockMoment start = clock_moment(options_.clock);
    const TickGrid grid{start.monotonic_ns, options_.interval.count()};
    const std::int64_t cpu_before = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    started.set_value(start);

    // From here on: no allocation, no lock, no exception.
    std::int64_t tick = 0;
    bool running = true;
    SuspendWatch suspends;
    while (running) {
        running = clock.wait_until(grid.start_ns + tick * grid.interval_ns, stop);
        const std::int64_t woken = clock_ns();
        const std::int64_t since_boot = options_.clock(CLOCK_BOOTTIME);
        if (suspends.add(woken, since_boot, clock_ns()) > 0)
            for (Recording& recording : recordings_)
                recording.note_suspend();
        for (Recording& recording : recordings_)
            recording.sample(grid);
        // If it took too long, no back-to-back reads.
        tick = std::max(tick, (clock_ns() - grid.start_ns) / grid.interval_ns) + 1;
    }
    const std::int64_t elapsed = clock_ns() - grid.start_ns;
    clocks_ = clock_facts(start, clock_moment(options_.clock));
    report_.sampler.cpu = options_.cpu;
    report_.sampler.sources = recordings_.size();
    report_.sampler.spin = std::chrono::nanoseconds(clock.spin_ns());
    report_.sampler.cpu_share =
        static_cast<double>(clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_before) / static_cast<double>(elapsed);
}

void Sampler::write(const std::stop_token& stop, const ClockMoment& start) {
    // Linux keeps a nice value per thread.
    ::setpriority(PRIO_PROCESS, static_cast<id_t>(::syscall(SYS_gettid)), 10);
    for (Recording& recording : recordings_)
        recording.begin({start.monotonic_ns, options_.interval.count()}, start.realtime_ns);
    std::vector<Sample> block(block_samples);
    std::unique_lock lock(writer_mutex_);
    bool last = false;
    while (!last) {
        last = stop.stop_requested();
        for (Recording& recording : recordings_)
            recording.drain(block);
        all_full_ = std::all_of(recordings_.begin(), recordings_.end(),
                                [](const Recording& recording) { return recording.full(); });
        if (std::all_of(recordings_.begin(), recordings_.end(),
                        [](const Recording& recording) { return recording.broken(); })) {
            all_broken_ = true;
            sampling_.request_stop();
            return;
        }
        if (!last)
            writer_wake_.wait_for(lock, stop, write_every, [] { return false; });
    }
}

SamplerReport Sampler::stop(const std::string& reason) {
    if (!stopped_) {
        stopped_ = true;
        sampling_.request_stop();
        sampling_.join();
        writing_.request_stop();
        writing_.join();
        for (Recording& recording : recordings_) {
            recording.finish(reason, report_.sampler, clocks_);
            report_.sources.push_back(recording.report());
        }
    }
    return report_;
}

} // namespace collectors
