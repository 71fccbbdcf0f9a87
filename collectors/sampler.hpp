#pragma once

#include "collectors/counter_source.hpp"
#include "collectors/sample_ring.hpp"
#include "collectors/trace_file.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace collectors {

struct SamplerOptions {
    std::chrono::nanoseconds interval{std::chrono::microseconds(500)};
    std::size_t ring_capacity = std::size_t{1} << 17; ///< samples between the two threads: 65 s at 500 us
    bool overwrite = false;                           ///< an existing trace
    std::optional<std::uint64_t> max_samples;         ///< in one file, see TraceFileOptions
    bool rotate = false;                              ///< go on in further files
    /// Sees each block of samples right after it was written; called on the writing thread, must not throw.
    std::function<void(std::span<const Sample>)> observer;
};

/// What the sampler knows beyond the trace; the rest is `trace_quality(read_trace(path))`.
struct SamplerReport {
    std::uint64_t samples = 0; ///< in the file
    std::uint64_t missed = 0;  ///< ticks skipped because the sampler came too late
    std::uint64_t failed = 0;  ///< reads that failed or found the ring full
    int last_error = 0;        ///< errno of the last read, 0 if it was good: the device is gone
    double cpu_share = 0;      ///< of one CPU, used by the sampling thread
    std::chrono::nanoseconds spin{
        0}; ///< part of each interval that is spent spinning, calibrated at the start
};

/// Records the counters of a source into a trace file until it is stopped. One thread samples: tick n is due
/// at start + n * interval; a tick that is over is skipped and counted, never caught up. A second thread, at
/// nice 10, writes every 100 ms. Both block all signals, which stay with the threads of the caller.
class Sampler {
public:
    /// Starts recording. Throws std::system_error if the file cannot be created, std::invalid_argument if the
    /// interval is not positive. `info` needs host, interface, byte_unit and driver; the sampler fills in the
    /// rest.
    Sampler(std::unique_ptr<CounterSource> source, const std::filesystem::path& trace_path, TraceInfo info,
            const SamplerOptions& options = {});
    /// Stops with the reason "abandoned" if nobody did; errors are lost then.
    ~Sampler();
    Sampler(const Sampler&) = delete;
    Sampler& operator=(const Sampler&) = delete;

    /// Takes a last sample, writes what is left, finishes the sidecar: within 100 ms at any interval. Throws
    /// what the writing thread met (disk full); what it wrote before stays. A second call returns the same
    /// report.
    SamplerReport stop(std::string reason);

    /// True once nothing can be written any more; sampling has ended, and stop() throws.
    bool failed() const noexcept { return writer_failed_.load(); }
    /// True once the trace holds as many samples as it may.
    bool full() const noexcept { return full_.load(); }

private:
    struct Start {
        std::int64_t monotonic_ns = 0;
        std::int64_t realtime_ns = 0;
    };

    void sample(const std::stop_token& stop, std::promise<Start> started);
    void keep(const CounterSource::Counters& counters, std::int64_t start_ns) noexcept;
    void write(const std::stop_token& stop, const TraceInfo& info);
    void drain();

    std::unique_ptr<CounterSource> source_;
    std::chrono::nanoseconds interval_;
    TraceWriter writer_;
    std::function<void(std::span<const Sample>)> observer_;
    SampleRing ring_;

    // Of the sampling thread; read by stop() after it ended.
    SamplerReport report_;
    std::uint32_t pending_flags_ = 0; ///< what happened since the last sample
    std::optional<Sample> previous_;

    // Of the writing thread.
    std::vector<Sample> block_;
    std::uint64_t written_ = 0;
    std::exception_ptr writer_error_;
    std::atomic<bool> writer_failed_{false};
    std::atomic<bool> full_{false};
    std::mutex writer_mutex_;
    std::condition_variable_any writer_wake_;

    bool stopped_ = false;
    std::jthread sampling_;
    std::jthread writing_;
};

} // namespace collectors
