#include "collectors/sampler.hpp"

#include "collectors/monotonic_clock.hpp"
#include "collectors/tick_clock.hpp"

#include <limits>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace collectors {

namespace {

constexpr std::chrono::milliseconds write_every{100};
constexpr std::size_t block_samples = 4096;

/// A signal must reach a thread that waits for it, never a thread that samples. New threads inherit the mask.
class AllSignalsBlocked {
public:
    AllSignalsBlocked() {
        sigset_t all;
        ::sigfillset(&all);
        ::pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~AllSignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    AllSignalsBlocked(const AllSignalsBlocked&) = delete;
    AllSignalsBlocked& operator=(const AllSignalsBlocked&) = delete;

private:
    sigset_t before_{};
};

std::chrono::nanoseconds checked(std::chrono::nanoseconds interval) {
    if (interval.count() <= 0)
        throw std::invalid_argument("the sampling interval must be greater than 0");
    return interval;
}

bool fits_width(std::int64_t width_ns) {
    return width_ns >= 0 && width_ns <= std::numeric_limits<std::uint32_t>::max();
}

} // namespace

Sampler::Sampler(std::unique_ptr<CounterSource> source, const std::filesystem::path& trace_path,
                 TraceInfo info, const SamplerOptions& options)
    : source_(std::move(source)), interval_(checked(options.interval)),
      writer_(trace_path,
              {.overwrite = options.overwrite, .max_samples = options.max_samples, .rotate = options.rotate}),
      observer_(options.observer), ring_(options.ring_capacity), block_(block_samples) {
    const AllSignalsBlocked inherited;
    std::promise<Start> promise;
    std::future<Start> started = promise.get_future();
    sampling_ = std::jthread([this, promise = std::move(promise)](const std::stop_token& stop) mutable {
        sample(stop, std::move(promise));
    });
    const Start start = started.get();
    info.source = source_->name();
    info.interval = interval_;
    info.start_monotonic_ns = start.monotonic_ns;
    info.start_realtime_ns = start.realtime_ns;
    info.version = GRADBURST_VERSION;
    info.build_type = GRADBURST_BUILD_TYPE;
    writing_ = std::jthread([this, info](const std::stop_token& stop) { write(stop, info); });
}

Sampler::~Sampler() {
    try {
        stop("abandoned");
    } catch (const std::exception&) {
        // Nobody is left to tell; the file ends where it ends and its sidecar says that it is incomplete.
    }
}

void Sampler::sample(const std::stop_token& stop, std::promise<Start> started) {
    const TickClock clock(interval_.count());
    const std::int64_t interval = interval_.count();
    const Start start{clock_ns(), clock_ns(CLOCK_REALTIME)};
    const std::int64_t cpu_before = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    started.set_value(start);

    // From here on: no allocation, no lock, no exception.
    std::int64_t tick = 0;
    const auto skip_to = [&](std::int64_t next) {
        if (next <= tick)
            return;
        report_.missed += static_cast<std::uint64_t>(next - tick);
        pending_flags_ |= SampleFlag::missed_ticks;
        tick = next;
    };
    bool running = true;
    while (running) {
        running = clock.wait_until(start.monotonic_ns + tick * interval, stop);
        const CounterSource::Counters counters = source_->read();
        const std::int64_t now = clock_ns();
        const std::int64_t begin = counters.error == 0 ? counters.begin_ns : now;
        skip_to((begin - start.monotonic_ns) /
                interval); // the read began too late for the ticks before this one
        keep(counters, start.monotonic_ns);
        ++tick;
        if (running)
            skip_to((now - start.monotonic_ns) / interval + 1); // it took too long: no back-to-back reads
    }
    const std::int64_t elapsed = clock_ns() - start.monotonic_ns;
    report_.spin = std::chrono::nanoseconds(clock.spin_ns());
    report_.cpu_share =
        static_cast<double>(clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_before) / static_cast<double>(elapsed);
}

void Sampler::keep(const CounterSource::Counters& counters, std::int64_t start_ns) noexcept {
    const std::int64_t rx_width = counters.middle_ns - counters.begin_ns;
    const std::int64_t tx_width = counters.end_ns - counters.middle_ns;
    report_.last_error = counters.error;
    if (counters.error != 0 || !fits_width(rx_width) || !fits_width(tx_width)) {
        ++report_.failed;
        pending_flags_ |= SampleFlag::failed_reads;
        return;
    }
    Sample sample{counters.begin_ns - start_ns,
                  static_cast<std::uint32_t>(rx_width),
                  static_cast<std::uint32_t>(tx_width),
                  counters.rx_bytes,
                  counters.tx_bytes,
                  std::exchange(pending_flags_, 0)};
    const bool fell =
        previous_ && (sample.rx_bytes < previous_->rx_bytes || sample.tx_bytes < previous_->tx_bytes);
    if (fell || counters.reopened)
        sample.flags |= SampleFlag::new_segment;
    if (ring_.push(sample)) {
        previous_ = sample;
        return;
    }
    // The next sample that fits tells what the dropped one had to tell.
    ++report_.failed;
    pending_flags_ = sample.flags | SampleFlag::failed_reads;
    previous_ = sample;
}

void Sampler::write(const std::stop_token& stop, const TraceInfo& info) {
    // Linux keeps a nice value per thread.
    ::setpriority(PRIO_PROCESS, static_cast<id_t>(::syscall(SYS_gettid)), 10);
    try {
        writer_.begin(info);
        std::unique_lock lock(writer_mutex_);
        while (!stop.stop_requested()) {
            drain();
            writer_wake_.wait_for(lock, stop, write_every, [] { return false; });
        }
        drain();
    } catch (...) {
        writer_error_ = std::current_exception();
        writer_failed_ = true;
        sampling_.request_stop();
    }
}

void Sampler::drain() {
    while (const std::size_t count = ring_.pop(block_)) {
        const std::uint64_t before = writer_.written();
        writer_.append(std::span(block_).first(count));
        written_ = writer_.written();
        full_ = writer_.full();
        if (observer_)
            observer_(std::span(block_).first(static_cast<std::size_t>(written_ - before)));
    }
}

SamplerReport Sampler::stop(std::string reason) {
    if (!stopped_) {
        stopped_ = true;
        sampling_.request_stop();
        sampling_.join();
        writing_.request_stop();
        writing_.join();
        report_.samples = written_;
        if (!writer_error_) {
            try {
                writer_.finish(std::move(reason), report_.missed, report_.failed);
            } catch (...) {
                writer_error_ = std::current_exception();
            }
        }
    }
    if (writer_error_)
        std::rethrow_exception(writer_error_);
    return report_;
}

} // namespace collectors
