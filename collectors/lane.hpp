#pragma once

#include "collectors/lane_file.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <string>
#include <thread>
#include <vector>

namespace collectors {

/// What became of one file of a lane.
struct LaneFileReport {
    std::uint64_t samples = 0;
    std::uint64_t failed = 0; ///< readings without an answer
    std::uint64_t late = 0;   ///< readings left out because the answer to the one before came too late
    std::string gave_up;      ///< why it, or a part of it, was not read any more; empty if it was
    std::string error;        ///< why it could not be written to its end (disk full); empty if it was
};

struct LaneReport {
    std::vector<LaneFileReport> files; ///< in the order in which they were given
    double cpu_share = 0;              ///< of one CPU, used by the lane for all of them

    /// Throws std::runtime_error with all that could not be written.
    void require_written() const;
};

/// A thread beside the sampler for what explains a trace but must never delay it, because the kernel's answer
/// may come late: one thread for all files. What it wrote every 100 ms stays readable after SIGKILL.
class Lane {
public:
    using Files = std::list<LaneFile>;
    /// Reads everything once and adds a row, or a failure, to each file; false if nobody answered at all.
    using Read = std::function<bool(Files&)>;

    /// Starts. Intervals below 1 ms are taken as 1 ms: the lane sleeps, it never spins. After three readings
    /// in a row without an answer (most_silent_readings) it gives up and says so in its files; a reading has
    /// asked twice by then.
    Lane(Files files, std::chrono::nanoseconds interval, std::int64_t start_monotonic_ns, Read read);
    ~Lane();
    Lane(const Lane&) = delete;
    Lane& operator=(const Lane&) = delete;

    /// Takes a last reading and completes the files.
    LaneReport stop();

private:
    void run(const std::stop_token& stop);
    /// Calls `action` for each file that can still be written.
    template <typename Action>
    void for_each_file(Action action);

    Files files_;
    std::chrono::nanoseconds interval_;
    std::int64_t start_ns_;
    Read read_;
    LaneReport report_;
    std::jthread thread_;
};

/// After that many in a row nobody will answer.
inline constexpr int most_silent_readings = 3;

/// The interval at which a lane really reads, see Lane.
std::chrono::nanoseconds lane_interval(std::chrono::nanoseconds asked);

} // namespace collectors
