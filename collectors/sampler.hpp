#pragma once

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
#include <string>
#include <thread>
#include <vector>

namespace collectors {

struct SamplerOptions {
    std::chrono::nanoseconds interval{std::chrono::microseconds(500)};
    std::size_t ring_capacity = std::size_t{1} << 17; ///< samples of each source between the two threads: 65
                                                      ///< s at 500 us, 5 MiB
    bool overwrite = false;                           ///< an existing trace
};

/// What the sampler knows beyond the traces.
struct SamplerReport {
    std::vector<SourceReport> sources; ///< in the order in which they were given
    double cpu_share = 0;              ///< of one CPU, used by the sampling thread for all of them
    std::chrono::nanoseconds spin{
        0}; ///< part of each interval that is spent spinning, calibrated at the start

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
    /// Starts recording. Throws std::system_error if a file cannot be created (those created before stay),
    /// std::invalid_argument if the interval is not positive.
    explicit Sampler(std::vector<SamplerSource> sources, const SamplerOptions& options = {});
    /// Stops with the reason "abandoned" if nobody did; errors are lost then.
    ~Sampler();
    Sampler(const Sampler&) = delete;
    Sampler& operator=(const Sampler&) = delete;

    /// Takes a last sample of each source, writes what is left, finishes the sidecars: within 100 ms at any
    /// interval. What could not be written (disk full) is in the report; what was written before stays. A
    /// second call returns the same report.
    SamplerReport stop(const std::string& reason);

    /// True once no trace can be written any more; sampling has ended.
    bool failed() const noexcept { return all_broken_.load(); }

private:
    struct Start {
        std::int64_t monotonic_ns = 0;
        std::int64_t realtime_ns = 0;
    };

    void sample(const std::stop_token& stop, std::promise<Start> started);
    void write(const std::stop_token& stop, const Start& start);

    std::chrono::nanoseconds interval_;
    std::list<Recording> recordings_; ///< they do not move: two threads look at them
    SamplerReport report_;            ///< cpu_share and spin belong to the sampling thread

    std::atomic<bool> all_broken_{false};
    std::mutex writer_mutex_;
    std::condition_variable_any writer_wake_;
    bool stopped_ = false;
    std::jthread sampling_;
    std::jthread writing_;
};

} // namespace collectors
