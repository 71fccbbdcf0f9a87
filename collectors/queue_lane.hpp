#pragma once

#include "collectors/lane.hpp"
#include "collectors/queue_statistics.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
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

/// Samples the queues of all interfaces of `reader` with one question to the kernel per reading; `paths` are
/// the files to write, `<name>.queue.csv` with a sidecar `<name>.queue.json`. Throws std::system_error: no
/// such folder, no queue to read.
std::unique_ptr<Lane> start_queue_lane(std::unique_ptr<QueueReader> reader,
                                       const std::vector<std::filesystem::path>& paths,
                                       std::chrono::nanoseconds interval, bool overwrite);

} // namespace collectors
