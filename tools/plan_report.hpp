#pragma once

#include "collectors/summary.hpp"
#include "generator/needs.hpp"
#include "generator/prediction.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// What a run would do, without running it: traffic by counting the plans, times and burstiness by the fluid
/// model.
namespace tools {

using std::chrono::nanoseconds;

struct PlanSettings {
    std::string profile_file; ///< for messages
    int ranks = 2;
    int ranks_per_host = 1; ///< ranks 0 to k-1 on host 0, and so on
    std::uint64_t mtu = 1500;
    bool ideal = false; ///< no headers: the whole line rate is payload
    nanoseconds step_latency = std::chrono::microseconds(30);
    std::vector<nanoseconds> windows;
    std::vector<collectors::BitRate> rates; ///< for the backlog, beside 2 x mean and C/2
};

/// A bucket as the first or a later iteration sends it.
struct BucketRow {
    generator::Collective collective = generator::Collective::all_reduce;
    std::uint64_t bytes = 0;
    std::size_t tensors = 0;
    nanoseconds ready_after{0};
};

/// Over all ranks.
struct Range {
    std::uint64_t least = 0;
    std::uint64_t most = 0;
};

struct IterationPlan {
    std::vector<BucketRow> buckets;
    Range sent_bytes; ///< per rank
    Range transfers;  ///< that a rank sends
    std::uint64_t all_sent_bytes = 0;
};

/// The largest all-reduce, alone on an idle network.
struct BandwidthEstimate {
    std::uint64_t bytes = 0;
    nanoseconds time{0};

    double algorithm_bytes_per_second() const;
    double bus_bytes_per_second(int ranks) const;
};

struct PlanReport {
    generator::Profile profile;
    PlanSettings settings;
    generator::LinkModel link;
    double byte_scale = 1;
    IterationPlan first;
    IterationPlan later;
    std::uint32_t iterations = 0;      ///< of the run
    bool iterations_estimated = false; ///< its duration ends it
    Range connections;                 ///< that a rank opens
    int ports_per_host = 1;
    generator::Needs needs; ///< of host 0, when it samples one interface per host and keeps the run
    generator::Prediction prediction;
    bool loopback = false;                ///< all ranks on one host: the trace is that of the loopback device
    collectors::Trace trace;              ///< of host 0
    collectors::InterfaceSummary summary; ///< of what host 0 sends
    std::optional<BandwidthEstimate> bandwidth;

    std::uint64_t run_bytes() const; ///< sent by all ranks
    /// Of an iteration's bytes at line rate without a pause: L in PtM(tau) = T / max(tau, L).
    nanoseconds burst_length() const;
};

/// Throws generator::ProfileError when the profile or the settings cannot be planned.
PlanReport make_report(const generator::Profile& profile, const PlanSettings& settings);

/// `free`: of the host that asks, for warnings.
std::string report_text(const PlanReport& report, const generator::FreeSpace& free);
std::string report_json(const PlanReport& report);

} // namespace tools
