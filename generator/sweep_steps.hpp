#pragma once

#include "generator/agreement.hpp"
#include "generator/launch_record.hpp"
#include "generator/sweep_record.hpp"

#include <optional>
#include <string>
#include <vector>

namespace generator {

/// A step before it is taken.
struct PlannedStep {
    std::string directory;             ///< below that of the sweep
    std::vector<std::size_t> jobs;     ///< that take part, by their numbers in the launch
    std::optional<std::uint32_t> turn; ///< of the offsets; empty: a job alone
};

/// Each job alone, then all at each offset.
std::vector<PlannedStep> planned_steps(const LaunchAgreement& launch);

/// When each job of the launch begins if the shifted one does so `offset` after the reference.
std::vector<nanoseconds> shifted_starts(const LaunchAgreement& launch, nanoseconds offset);

/// The time after which a job begins no iteration, however few it has had: so slow is no network that is
/// still worth a step. Alone many times what is expected of it, beside others what it took alone, as often as
/// there are jobs, and more. nullopt: its profile gives a duration.
std::optional<nanoseconds> alone_limit(const Agreement& job);
std::optional<nanoseconds> together_limit(const Agreement& job, const SweepRecord& so_far, std::size_t jobs);

/// nullopt: that job has not run alone, or no measured iteration ended.
std::optional<nanoseconds> p50_alone(const SweepRecord& sweep, const std::string& job);

/// What a step says, beside what the sweep has so far.
SweepStep sweep_step(const PlannedStep& planned, std::optional<nanoseconds> asked, const LaunchRecord& launch,
                     const std::vector<JobResult>& jobs, const SweepRecord& so_far);

} // namespace generator
