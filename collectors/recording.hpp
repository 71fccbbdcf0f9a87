#pragma once

#include "collectors/counter_source.hpp"
#include "collectors/sample_ring.hpp"
#include "collectors/trace_file.hpp"
#include "collectors/trace_quality.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace collectors {

/// What a sampler shall record: one source into one trace. `info` needs host, interface, byte_unit, driver
/// and side; the sampler fills in the rest.
struct SamplerSource {
    std::unique_ptr<CounterSource> source;
    std::filesystem::path trace_path;
    TraceInfo info;
    /// Sees each block of samples once it is in the file; called on the writing thread, must not throw.
    std::function<void(std::span<const Sample>)> observer = {};
};

/// Tick n is due at start_ns + n * interval_ns, CLOCK_MONOTONIC.
struct TickGrid {
    std::int64_t start_ns = 0;
    std::int64_t interval_ns = 0;
};

/// What became of one source, beyond what its trace tells; the rest is `trace_quality(read_trace(path))`.
struct SourceReport {
    std::uint64_t samples = 0; ///< in the file
    std::uint64_t missed = 0;  ///< ticks skipped because the sampler came too late
    std::uint64_t failed = 0;  ///< reads that failed or found the ring full
    int last_error = 0;        ///< errno of the last read, 0 if it was good: the device is gone
    /// Since when, in the time of the trace, reads failed, if the last one did.
    std::optional<std::chrono::nanoseconds> lost_from;
    std::string error; ///< why the trace could not be written to its end (disk full); empty if it was

    /// "interface vanished after 1.301 s" from the start of the trace; empty if the counters could be read to
    /// the end.
    std::string loss() const;
};

/// One source on its way into its trace: the sampling thread calls `sample`, the writing thread `begin` and
/// `drain`; a ring is between them. What fails here stays here: the other recordings go on.
class Recording {
public:
    /// Creates the trace. Throws std::system_error that names the file.
    Recording(SamplerSource source, std::size_t ring_capacity, const TraceFileOptions& file);

    /// Reads the source once. A sample serves the tick in whose time its read began; ticks before it that no
    /// sample served are missed.
    void sample(const TickGrid& grid) noexcept;
    /// The host was suspended since the last sample: nobody knows what passed then.
    void note_suspend() noexcept { pending_flags_ |= SampleFlag::host_suspended | SampleFlag::new_segment; }

    /// Writes the sidecar of a trace that is not complete yet.
    void begin(const TickGrid& grid, std::int64_t start_realtime_ns);
    /// Writes what is in the ring.
    void drain(std::span<Sample> block);
    /// Nothing can be written any more.
    bool broken() const { return !report_.error.empty(); }
    /// The trace holds as many samples as it may.
    bool full() const { return writer_.full(); }
    /// Completes the sidecar, once both threads have ended.
    void finish(const std::string& reason, const SamplerFacts& sampler, const ClockFacts& clocks);

    const SourceReport& report() const { return report_; }

private:
    void note_name();
    void keep(const CounterSource::Counters& counters, std::int64_t start_ns) noexcept;

    std::unique_ptr<CounterSource> source_;
    TraceInfo info_;
    TraceWriter writer_;
    std::function<void(std::span<const Sample>)> observer_;
    SampleRing ring_;
    SourceReport report_; ///< samples and error belong to the writing thread, the rest to the sampling thread

    // Of the writing thread.
    std::optional<OnlineQuality> quality_; ///< of what was written
    std::string interface_name_;           ///< as it was called last; empty if that is not known

    // Of the sampling thread.
    std::uint64_t left_;              ///< samples that the trace still takes
    std::int64_t next_tick_ = 0;      ///< the first that no sample has served yet
    std::uint32_t pending_flags_ = 0; ///< what happened since the last sample
    std::optional<Sample> previous_;
};

} // namespace collectors
