#pragma once

#include "generator/results.hpp"
#include "generator/start_at.hpp"

#include <optional>
#include <string>
#include <vector>

namespace generator {

/// Everything that launch.json says beside the runs of its jobs.
struct LaunchRecord {
    std::string id;
    std::string command;
    std::string started_at;
    std::optional<StartAt> start_at;
    std::vector<nanoseconds> offsets; ///< of each job's start, as planned
    std::vector<std::optional<nanoseconds>>
        limits;                          ///< of each job: no iteration begins so long after its start
    bool of_sweep = false;               ///< a step of one, which tells of it
    std::int64_t start_monotonic_ns = 0; ///< on rank 0's clock; 0: no job has started
};

/// How far after the start of the launch the last rank of a job began an iteration, on rank 0's clock;
/// nullopt when some rank did not finish it, or did not answer.
std::optional<nanoseconds> iteration_start(const JobResult& job, std::uint32_t iteration,
                                           std::int64_t start_monotonic_ns);

/// launch.json, format "gradburst-launch/1": the jobs with status, offsets and iteration times side by side.
std::string launch_json(const LaunchRecord& launch, const std::vector<JobResult>& jobs);

/// The same for people, in a few lines.
std::string launch_text(const LaunchRecord& launch, const std::vector<JobResult>& jobs);

} // namespace generator
