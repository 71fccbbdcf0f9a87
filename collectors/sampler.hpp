#pragma once

#include "collectors/host_clocks.hpp"
#include "collectors/recording.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <future>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace collectors {

struct SamplerOptions {
    std::chrono::nanoseconds interval{std::chrono::microseconds(500)};
    std::size_t ring_capacity = std::size_t{1} << 17; ///< samples of each source between the two threads: 65
                                                      ///< s at 500 us, 5 MiB
    bool overwrite = false;                           ///< an existing trace
    /// SCHED_FIFO, so that the sampler stays on time among busy processes. Only from 1 ms on, where it
    /// sleeps: the kernel stops a real-time thread that spins for 50 ms in each second. Without the right to
    /// it the sampler goes on as an ordinary thread; its facts say so.
    bool fifo = false;
    std::optional<int> cpu;                   ///< to which the sampling thread is pinned
    std::optional<std::uint64_t> max_samples; ///< in one file, see TraceFileOptions
    bool rotate = false;                      ///< go on in further files
    ClockReader clock = clock_ns;             ///< for what happens to the clocks; replaced in tests
};

inline constexpr std::chrono::microseconds shortest_sampling_interval{20};
inline constexpr std::chrono::seconds longest_sampling_interval{10};

/// Throws std::invalid_argument if the interval is out of range or does not go with SCHED_FIFO.
void check_options(const SamplerOptions& options);

/// What the sampler knows beyond the traces.
struct SamplerReport {
    std::vector<SourceReport> sources; ///< in the order in which they were given
    SamplerFacts sampler;

    /// An equal part for each source.
    double cpu_share_of_one() const;
    /// Throws std::runtime_error with all that could not be written.
    void require_written() const;
};

/// Records the counters of several sources, each into a trace file of its own, until it is stopped. One
/// thread samples: at each tick it reads one source after another, each with its own stamps. A tick that is
/// over is skipped and counted, never caught up. A second thread, at nice 10, writes every 100 ms. Both block
/// all signals, which stay with the threads of the caller.
class Sampler {
public:
    /// Starts recording. Throws std::invalid_argument, see check_options; std::system_error if a file cannot
    /// be created (those created before stay) or the thread cannot be pinned.
    explicit Sampler(std::vector<SamplerSource> sources, const SamplerOptions& options = {});
    /// Stops with the reason "abandoned" if nobody did; errors are lost then.
    ~Sampler();
    Sampler(const Sampler&) = delete;
    Sampler& operator=(const Sampler&) = delete;

    /// Takes a last sample of each source, writes what is left, finishes the sidecars: within 100 ms at any
    /// interval. What could not be written (disk full) is in the report; what was written before stays. A
    /// second call returns the same report.
    SamplerReport stop(const std::string& reason);

    /// Policy of the sampling thread, see SamplerFacts.
    const std::string& scheduling() const noexcept { return report_.sampler.scheduling; }
    /// True once no trace can be written any more; sampling has ended.
    bool failed() const noexcept { return all_broken_.load(); }
    /// True once every trace holds as many samples as it may.
    bool full() const noexcept { return all_full_.load(); }

private:
    void sample(const std::stop_token& stop, std::promise<ClockMoment> started);
    void write(const std::stop_token& stop, const ClockMoment& start);

    SamplerOptions options_;
    std::list<Recording> recordings_; ///< they do not move: two threads look at them
    SamplerReport report_;            ///< its facts belong to the sampling thread
    ClockFacts clocks_;               ///< of the sampling thread, once it has ended

    std::atomic<bool> all_broken_{false};
    std::atomic<bool> all_full_{false};
    std::mutex writer_mutex_;
    std::condition_variable_any writer_wake_;
    bool stopped_ = false;
    std::jthread sampling_;
    std::jthread writing_;
};

} // namespace collectors
