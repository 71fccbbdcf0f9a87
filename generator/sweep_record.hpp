#pragma once

#include "generator/run_record.hpp"
#include "generator/sweep_phase.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace generator {

/// One job in one step of a sweep.
struct SweepJob {
    std::string name;
    std::uint32_t finished = 0;         ///< iterations, warm-up included
    std::uint32_t counted = 0;          ///< of these: measured, while all jobs ran
    std::optional<nanoseconds> p50;     ///< of an iteration, over those
    std::optional<double> interference; ///< p50 against that of the job alone
};

/// PtM of the interface that carried the most in its direction.
struct SweepRatio {
    std::string where; ///< "gb0.eth0 tx"
    double mean_bits_per_second = 0;
    std::optional<collectors::Bounds> ratio; ///< nullopt: the trace does not resolve the window
};

/// The largest queue: of a sampled switch port, or the one that an interface's traffic would have made on a
/// slower link.
struct SweepBacklog {
    std::string where; ///< "switch port p1 to gb1", "gb0.eth0 tx"
    collectors::Bounds bytes;
    std::optional<BitRate> rate; ///< of that link; nullopt: the queue was measured
};

/// One step of a sweep: a job alone, or all with one of them shifted. What is not known is empty.
struct SweepStep {
    std::string directory;               ///< below that of the sweep: a launch directory
    std::string alone;                   ///< name of the only job; empty: all
    std::optional<nanoseconds> asked;    ///< offset; nullopt: alone
    std::optional<HeldOffset> held;      ///< offset
    std::optional<bool> offset_was_held; ///< see is_held
    RunStatus status = RunStatus::failed;
    std::string error;
    std::optional<nanoseconds> cut_off; ///< no iteration began after this time, though more were asked for
    std::vector<SweepJob> jobs;         ///< that took part
    std::optional<SweepRatio> ratio;
    std::optional<SweepBacklog> backlog;
    std::optional<std::int64_t> drops;       ///< packets, of interfaces and sampled switch ports
    std::optional<std::int64_t> retransmits; ///< segments of all jobs' connections
};

/// Everything that sweep.json says.
struct SweepRecord {
    std::string id;
    std::string command;
    std::string started_at;
    RunStatus status = RunStatus::failed;
    std::string error;
    std::string shifted;
    std::string reference;
    std::optional<nanoseconds> period; ///< T; nullopt: not yet known
    bool period_given = false;         ///< by the jobs file; else the reference's p50 alone
    std::uint32_t planned_steps = 0;
    std::vector<SweepStep> steps; ///< done
};

inline constexpr std::chrono::milliseconds sweep_window{5}; ///< of the PtM

/// sweep.json, format "gradburst-sweep/1", see tools/sweep.schema.json.
std::string sweep_json(const SweepRecord& sweep);

} // namespace generator
