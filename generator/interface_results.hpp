#pragma once

#include "generator/run_record.hpp"
#include "generator/timeline.hpp"
#include "generator/workload.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace generator {

/// A trace of the run directory, and the ranks whose traffic its interface carries.
struct InterfaceTrace {
    std::filesystem::path file;
    std::vector<int> ranks; ///< of the job, on one network namespace and interface; the first has a timeline
    bool loopback = false;
    std::vector<OtherTraffic> others;                    ///< of other jobs over the same interface
    const std::vector<FlowRecord>* background = nullptr; ///< of the job; nullptr: none
};

/// Of which windows and rates metrics are computed, beside the standard ones.
struct AskedMetrics {
    std::optional<BitRate> line_rate;
    std::vector<Expectation> expectations;
};

/// Both directions of every trace over the measured iterations (all that finished, if none is left after
/// warm-up): burst metrics, backlog, payload bytes that cross the interface.
std::vector<InterfaceResult> interface_results(const std::vector<InterfaceTrace>& traces,
                                               const std::vector<Timeline>& timelines,
                                               const Workload& workload, const RunStatistics& statistics,
                                               std::uint32_t warmup, const AskedMetrics& asked,
                                               std::vector<std::string>& warnings);

/// Why the bytes that the interface counted should not be trusted; empty when they fit the payload.
std::string count_warning(const InterfaceResult& result);

} // namespace generator
