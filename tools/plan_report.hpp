#pragma once

#include "collectors/summary.hpp"
#include "generator/background_flows.hpp"
#include "generator/needs.hpp"
#include "generator/prediction.hpp"
#include "tools/plan_traffic.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// What a run would do, without running it: traffic by counting the plans, times and burstiness by the fluid
/// model.
namespace tools {

struct PlanSettings {
    std::string profile_file; ///< for messages
    int ranks = 2;
    int ranks_per_host = 1; ///< ranks 0 to k-1 on host 0, and so on
    std::uint64_t mtu = 1500;
    bool ideal = false; ///< no headers: the whole line rate is payload
    nanoseconds step_latency = std::chrono::microseconds(30);
    int hosts_per_leaf = 0; ///< 0: one switch for all
    double oversubscription = 1;
    std::vector<nanoseconds> windows;
    std::vector<collectors::BitRate> rates; ///< for the backlog, beside 2 x mean and C/2
};

/// The largest all-reduce, or without one the largest collective, alone on an idle network.
struct BandwidthEstimate {
    generator::BucketKind kind;
    int members = 2; ///< of its group
    nanoseconds time{0};

    double algorithm_bytes_per_second() const;
    double bus_bytes_per_second() const; ///< see generator::bus_factor
};

struct PlanReport {
    generator::Profile profile;
    PlanSettings settings;
    generator::LinkModel link;
    double byte_scale = 1;
    std::vector<generator::Group> groups;
    Traffic traffic;
    std::uint32_t iterations = 0;      ///< of the run
    bool iterations_estimated = false; ///< its duration ends it
    int ports_per_host = 1;
    generator::Needs needs; ///< of host 0, when it samples one interface per host and keeps the run
    generator::Prediction prediction;
    bool loopback = false;                ///< all ranks on one host: the trace is that of the loopback device
    collectors::Trace trace;              ///< of host 0
    collectors::InterfaceSummary summary; ///< of what host 0 sends
    std::optional<BandwidthEstimate> bandwidth;

    std::vector<generator::BackgroundLoad> background; ///< of each host; empty without background traffic

    std::uint64_t run_bytes() const; ///< sent by all ranks
    nanoseconds run_time() const;    ///< predicted of all iterations
    /// Of an iteration's bytes at line rate without a pause: L in PtM(tau) = T / max(tau, L).
    nanoseconds burst_length() const;
};

/// Throws generator::ProfileError when the profile or the settings cannot be planned.
PlanReport make_report(const generator::Profile& profile, const PlanSettings& settings);

/// `free`: of the host that asks, for warnings.
std::string report_text(const PlanReport& report, const generator::FreeSpace& free);
std::string report_json(const PlanReport& report);

} // namespace tools
