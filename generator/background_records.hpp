#pragma once

#include "generator/background_flows.hpp"
#include "generator/background_report.hpp"
#include "generator/clock_offset.hpp"
#include "generator/other_traffic.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// What became of background traffic, from the reports of both ends of each flow. Pure.
namespace generator {

/// A message that was begun. Times are on the clock of the host of the launch's rank 0, from the job's start.
struct MessageRecord {
    std::uint64_t bytes = 0;
    std::uint64_t query = 0;
    std::int64_t due_ns = 0;
    std::int64_t start_ns = 0;          ///< the sender began to send
    std::optional<std::int64_t> end_ns; ///< the receiver read the last byte; empty: not in the run

    std::int64_t completion_ns() const { return *end_ns - due_ns; }
};

/// Both ends of a flow.
struct FlowRecord {
    BackgroundFlow flow;
    std::optional<FlowEnd> sent;         ///< without its times; empty: the rank did not answer
    std::optional<FlowEnd> received;     ///< the same
    OfferedTraffic planned;              ///< due before the sender stopped
    double seconds = 0;                  ///< until it did
    std::vector<MessageRecord> messages; ///< those whose times were kept
    std::uint64_t begun = 0;             ///< in all
};

/// One rank's report, and how its clock stands to rank 0's.
struct RankBackground {
    std::optional<BackgroundReport> report;
    std::int64_t start_monotonic_ns = 0; ///< the job's start
    ClockAlignment clock;
};

/// All flows of a job, in their order.
std::vector<FlowRecord> flow_records(const Profile& profile, std::vector<RankBackground> ranks);

/// Bytes of flows between `ranks`, which share an interface, and other ranks (on loopback: of all ranks) that
/// crossed it in one direction within [from_ns, to_ns) of the job.
OtherPayload background_payload(const std::vector<FlowRecord>& flows, const std::vector<int>& ranks,
                                collectors::Direction direction, std::int64_t from_ns, std::int64_t to_ns,
                                bool loopback);

/// background.csv: a line for each message whose times were kept.
std::string background_csv(const std::vector<FlowRecord>& flows,
                           const std::vector<BackgroundEntry>& background);

} // namespace generator
