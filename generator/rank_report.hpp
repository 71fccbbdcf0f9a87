#pragma once

#include "generator/background_report.hpp"
#include "generator/run_record.hpp"
#include "generator/timeline.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace generator {

/// A trace that a rank recorded, or a lane beside one; with its content when rank 0 cannot see the rank's
/// files.
struct RecordedTrace {
    std::string file; ///< relative to the run directory
    std::string csv;
    std::string sidecar;
    double sampler_cpu_share = 0;
};

/// How the run ended on one rank; travels to rank 0.
struct RankReport {
    Timeline timeline;
    std::string tcp_lines;                          ///< of tcp.csv; none unless the profile asks for them
    std::optional<std::uint32_t> tcp_left_out_from; ///< see TcpLog
    RunStatus status = RunStatus::complete;
    std::string error;
    std::optional<int> lost_peer;               ///< that is the error: this peer left, and knows better why
    SocketState sockets;                        ///< of its data connections
    std::optional<BackgroundReport> background; ///< of a profile with background traffic
    std::uint64_t checked_elements = 0;         ///< with --verify
    double cpu_seconds = 0;     ///< of the process, sampler included, from iteration 0 to the end
    double traffic_seconds = 0; ///< how long that was
    std::vector<RecordedTrace> traces;
    std::vector<std::string> warnings; ///< of what this rank could not keep
};

std::string serialize(const RankReport& report);
RankReport parse_rank_report(const std::string& text);

/// Status and message of the whole run: the cause rather than its echoes (ranks that only saw a peer leave),
/// and every rank that did not answer.
struct RunEnd {
    RunStatus status = RunStatus::complete;
    std::string error;
};
RunEnd run_end(const std::vector<std::optional<RankReport>>& reports, const std::vector<Endpoint>& endpoints);

} // namespace generator
