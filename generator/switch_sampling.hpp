#pragma once

#include "collectors/queue_lane.hpp"
#include "collectors/sampler.hpp"

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace generator {

/// Between two readings of the ports' queues. One reading of all costs 6 us on an idle machine, several times
/// that on a busy one.
inline constexpr std::chrono::milliseconds switch_queue_interval{2};

/// A switch whose ports can be sampled from here: the testbed's, a network namespace.
struct SwitchPlace {
    std::string network_namespace; ///< "gb-switch", under /run/netns
    std::string host_prefix;       ///< port p0 leads to host "gb0"
};

/// From GRADBURST_TESTBED_SWITCH and GRADBURST_TESTBED_NAME; empty outside a testbed.
std::optional<SwitchPlace> testbed_switch();

/// What was recorded at one port of the switch.
struct SwitchPortTrace {
    std::string port;           ///< "p0"
    std::string host;           ///< that the port leads to
    std::filesystem::path file; ///< relative to the run directory: nic/<switch>.<port>.csv
    std::filesystem::path queue_file;
    double cpu_share = 0; ///< of one core, its part of what the two threads used that sampled all ports
};

/// Samples the counters of all ports of a switch in one thread and their queues in another. The threads stay
/// where they are; the files and sockets that they read were opened in the switch's network namespace.
class SwitchSampling {
public:
    /// Starts. Throws std::system_error when the namespace cannot be entered (it needs root there).
    SwitchSampling(const SwitchPlace& place, const std::filesystem::path& run_directory,
                   std::chrono::nanoseconds interval, bool overwrite);

    /// Ends. What could not be kept (disk full) is reported in `errors`.
    std::vector<SwitchPortTrace> stop(const std::string& reason, std::vector<std::string>& errors);

private:
    std::vector<SwitchPortTrace> traces_;
    std::unique_ptr<collectors::Lane> queues_;
    std::unique_ptr<collectors::Sampler> sampler_;
};

} // namespace generator
