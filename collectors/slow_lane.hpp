#pragma once

#include "collectors/lane.hpp"

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// What explains a trace and never enters E(tau): drops and errors of the interface, its queue, TCP's
/// retransmissions, timeouts and congestion marks, every 100 ms.
namespace collectors {

inline constexpr std::chrono::milliseconds slow_lane_interval{100};

/// trace.csv -> trace.slow.csv
std::filesystem::path slow_path(const std::filesystem::path& trace_path);

/// Starts one lane for these interfaces of the calling thread's network namespace; `paths` are the files to
/// write. What cannot be read is -1 in its column. Throws std::system_error: no such folder, no such
/// interface.
std::unique_ptr<Lane> start_slow_lane(const std::vector<std::string>& interfaces,
                                      const std::vector<std::filesystem::path>& paths, bool overwrite);

/// What a counter of the slow lane rose by from the first to the last row.
struct SlowTotal {
    std::string name;
    std::string unit;
    /// For a level (a backlog): the largest. nullopt: known once, but not in the first or the last row (the
    /// interface vanished, the kernel fell silent), so nobody can say.
    std::optional<std::int64_t> total;
    bool is_level = false;
    bool of_host = false; ///< of all interfaces and connections of the network namespace
};

/// Counters that were never known are left out; one that fell counts from 0 again. Throws
/// std::runtime_error, see read_lane_file.
std::vector<SlowTotal> slow_totals(const std::filesystem::path& path);

} // namespace collectors
