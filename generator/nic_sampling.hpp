#pragma once

#include "collectors/lane.hpp"
#include "collectors/sampler.hpp"
#include "generator/host_facts.hpp"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace generator {

/// The counters of one interface of one host, recorded while the ranks send.
struct NicTrace {
    std::string host;
    std::string interface;
    std::filesystem::path file; ///< relative to the run directory: nic/<host>.<interface>.csv
    double cpu_share = 0;       ///< of one core, its part of what the sampling threads used
    /// Drops, errors and retransmissions beside it: nic/<host>.<interface>.slow.csv; empty if they are not
    /// kept.
    std::filesystem::path slow_file;
};

/// What a NicSampling leaves behind.
struct NicRecording {
    std::vector<NicTrace> traces;
    std::vector<std::string> errors;   ///< traces that could not be written to their end (disk full)
    std::vector<std::string> warnings; ///< what explains the traces and could not be kept
};

/// Samples the interfaces that the ranks of this host and network namespace use, if this rank is the lowest
/// of them; a slow lane beside them reads what explains their traces.
class NicSampling {
public:
    /// `interfaces` of all ranks. Does nothing on the other ranks. Throws std::system_error, NoInterface,
    /// NoSource. A slow lane that cannot start is a warning in the recording.
    NicSampling(int rank, const std::vector<HostFacts>& ranks, const std::vector<std::string>& interfaces,
                const std::filesystem::path& run_directory, std::chrono::nanoseconds interval,
                bool overwrite);

    /// Ends sampling. What was written stays, whatever failed.
    NicRecording stop(const std::string& reason);

private:
    void start_slow_lane(const std::vector<std::string>& names, const std::filesystem::path& run_directory,
                         bool overwrite);
    void stop_slow_lane();

    NicRecording recording_;
    std::unique_ptr<collectors::Sampler> sampler_; ///< one for all interfaces
    std::unique_ptr<collectors::Lane> slow_lane_;  ///< one for all interfaces
};

} // namespace generator
