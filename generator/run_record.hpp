#pragma once

#include "collectors/summary.hpp"
#include "generator/background_results.hpp"
#include "generator/clock_offset.hpp"
#include "generator/host_facts.hpp"
#include "generator/other_traffic.hpp"
#include "generator/run_statistics.hpp"
#include "generator/slow_results.hpp"
#include "generator/start_at.hpp"
#include "generator/tcp_results.hpp"
#include "generator/transport.hpp"
#include "generator/verdict.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace generator {

enum class RunStatus { complete, interrupted, failed };
std::string_view status_name(RunStatus status); ///< as run.json has it

/// One direction of one interface, measured and predicted.
struct InterfaceResult {
    collectors::InterfaceSummary summary;
    std::vector<std::optional<double>> predicted_ratios; ///< PtM per window; empty without a prediction
    std::vector<std::optional<double>>
        predicted_backlog_bytes; ///< per backlog rate; empty without a prediction
    std::vector<int> ranks;      ///< whose payload crosses this interface
    nanoseconds from{0};         ///< the measured iterations, in the time of the trace
    nanoseconds to{0};
    std::uint64_t payload_bytes = 0;          ///< in this direction over the same time as summary.nic_bytes
    std::uint64_t opposite_payload_bytes = 0; ///< in the other one: its acknowledgements go in this
    std::uint64_t messages = 0;               ///< in both directions: pieces of payload that may travel alone
    std::vector<std::string> shared_with;     ///< other jobs whose traffic is in the same counter
    OtherPayload others;                      ///< of these jobs in that time
    OtherPayload opposite_others;             ///< the same in the other direction
    bool has_background = false;              ///< of the job, on this interface
    OtherPayload background;                  ///< in that time; not in the payload
    OtherPayload opposite_background;         ///< the same in the other direction
};

/// One port of a switch that could be sampled (testbed): what left through it to a host.
struct SwitchPortResult {
    std::string port;
    std::string host;                                    ///< that the port leads to
    std::vector<int> ranks;                              ///< of that host
    collectors::InterfaceSummary summary;                ///< tx: after the port's queue
    std::vector<std::optional<double>> predicted_ratios; ///< of what the host receives; empty: no prediction
    std::string queue_kind;                              ///< "tbf"
    std::uint64_t queue_samples = 0;
    std::uint64_t max_backlog_bytes = 0;
    std::uint64_t drops = 0;        ///< packets
    int possible_senders = 0;       ///< hosts that send to this one by the plan
    int most_active_senders = 0;    ///< at the same time
    int typical_active_senders = 0; ///< median while at least one is active
};

/// CPU that one rank used while traffic flowed, as a share of one core.
struct RankCpu {
    double rank = 0;    ///< without the sampler
    double sampler = 0; ///< 0 on a rank that samples nothing
};

/// Everything that run.json says.
struct RunRecord {
    RunStatus status = RunStatus::failed;
    std::string error; ///< empty unless interrupted or failed
    std::string job;   ///< its name; empty: the only job of its launch
    std::string run_id;
    std::string command;
    std::string started_at;
    std::optional<StartAt> start_at;
    std::string mpi_library;
    std::vector<HostFacts> ranks;
    std::vector<Endpoint> endpoints;
    std::vector<ClockAlignment> clocks; ///< of each rank's host to that of the launch's rank 0; empty before
                                        ///< they were compared
    std::vector<std::optional<std::int64_t>> start_monotonic_ns; ///< of each rank, time 0 on its host's clock
    Profile profile;
    std::optional<BitRate> line_rate;
    std::string line_rate_origin; ///< "--line-rate", "eth0 reports it", "unknown"
    double byte_scale = 1;
    std::vector<SocketUse> sockets; ///< of the data connections
    std::vector<RankCpu> cpu;       ///< per rank; empty before the traffic
    std::vector<std::string> warnings;
    std::optional<std::uint64_t>
        planned_bytes;                  ///< payload of all ranks in the iterations that all ranks finished
    std::uint64_t checked_elements = 0; ///< by all ranks, with --verify; a wrong one ends the run
    RunStatistics statistics;
    std::optional<double> predicted_iteration_seconds;
    std::vector<BackgroundEntryResult> background; ///< of the profile's entries; empty before the traffic
    std::vector<InterfaceResult> interfaces;
    std::optional<TcpResult> tcp;               ///< empty: not measured
    std::vector<SlowLaneResult> slow_lanes;     ///< of each interface whose lane could be kept
    std::vector<SwitchPortResult> switch_ports; ///< empty without a switch that could be sampled
    Verdict verdict;                            ///< on what the profile expects
};

/// What the profile expects.
std::vector<Expectation> expectations_of(const RunRecord& record);

/// Judges what the profile expects by all else that the record says.
Verdict verdict_on(const RunRecord& record);

/// run.json, format "gradburst-run/1". Always valid JSON; what is not known is null.
std::string run_json(const RunRecord& record);

/// What rank 0 prints before the traffic: the effective settings.
std::string settings_text(const RunRecord& record, const Workload& workload, const std::string& out);

/// What rank 0 prints after it: statistics, bytes, burstiness, warnings.
std::string result_text(const RunRecord& record, const std::string& out);

/// Each line with the job's name in front ("b | iterations ..."); as it is for the only job.
std::string in_front(const std::string& job, const std::string& text);

/// metrics.prom: the main numbers in Prometheus' text format.
std::string prometheus_text(const RunRecord& record);

} // namespace generator
