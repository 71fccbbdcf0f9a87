#pragma once

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
    double cpu_share = 0;       ///< of one core, its part of what the sampling thread used
};

/// Samples the interfaces that the ranks of this host and network namespace use, if this rank is the lowest
/// of them.
class NicSampling {
public:
    /// `interfaces` of all ranks. Does nothing on the other ranks. Throws std::system_error, NoInterface,
    /// NoSource.
    NicSampling(int rank, const std::vector<HostFacts>& ranks, const std::vector<std::string>& interfaces,
                const std::filesystem::path& run_directory, std::chrono::nanoseconds interval,
                bool overwrite);

    /// Ends sampling. A trace that could not be written (disk full) is reported in `errors`; what was written
    /// stays.
    std::vector<NicTrace> stop(const std::string& reason, std::vector<std::string>& errors);

private:
    std::vector<NicTrace> traces_;
    std::unique_ptr<collectors::Sampler> sampler_; ///< one for all interfaces
};

} // namespace generator
