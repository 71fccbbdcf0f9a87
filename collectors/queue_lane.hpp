#pragma once

#include "collectors/queue_statistics.hpp"

#include <chrono>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace collectors {

/// One reading of a queue; a line of `<name>.queue.csv`.
struct QueueSample {
    std::int64_t t_ns = 0; ///< when it was read, from the start of the file
    std::uint64_t backlog_bytes = 0;
    std::uint64_t backlog_packets = 0;
    std::uint64_t drops = 0;
    std::uint64_t sent_bytes = 0;
    std::uint64_t overlimits = 0;

    bool operator==(const QueueSample&) const = default;
};

struct QueueTrace {
    std::int64_t start_monotonic_ns = 0; ///< CLOCK_MONOTONIC at t_ns = 0
    std::string interface;
    std::string kind; ///< of the queueing discipline
    std::vector<QueueSample> samples;
};

/// trace.csv -> trace.queue.csv
std::filesystem::path queue_path(const std::filesystem::path& trace_path);

/// Throws std::runtime_error that names the file and the line. A last line without line end is ignored.
QueueTrace read_queue_trace(const std::filesystem::path& path);

/// The slow lane: samples the queue of an interface in a thread of its own, because the kernel's answer may
/// come late, and writes `<name>.queue.csv` with its sidecar `<name>.queue.json`. What was written every
/// 100 ms stays readable after SIGKILL.
class QueueLane {
public:
    /// Starts. `path` is the file to write. Throws std::system_error: no such file, no queue to read.
    QueueLane(std::unique_ptr<QueueReader> reader, std::string interface, std::filesystem::path path,
              std::chrono::nanoseconds interval, bool overwrite);
    ~QueueLane();
    QueueLane(const QueueLane&) = delete;
    QueueLane& operator=(const QueueLane&) = delete;

    struct Report {
        std::uint64_t samples = 0;
        std::uint64_t failed = 0; ///< readings without an answer; after ten in a row the lane gives up
        double cpu_share = 0;     ///< of one CPU
    };
    /// Ends, writes what is left. Throws what the thread met (disk full).
    Report stop();

private:
    void sample(const std::stop_token& stop);
    void write_lines(std::string& lines);
    void write_sidecar(bool complete) const;

    std::unique_ptr<QueueReader> reader_;
    std::string interface_;
    std::filesystem::path path_;
    std::chrono::nanoseconds interval_;
    int descriptor_ = -1;
    std::string kind_;
    std::int64_t start_ns_ = 0;
    Report report_;
    std::exception_ptr error_;
    std::jthread thread_;
};

} // namespace collectors
