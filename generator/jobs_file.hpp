#pragma once

#include "generator/profile.hpp"

#include <optional>
#include <string>
#include <vector>

namespace generator {

/// When a job begins, counted from the start of the launch.
struct JobStart {
    nanoseconds offset{0};
    std::optional<double> phase;       ///< so many iterations of job `of` after it; then there is no offset
    std::string of;                    ///< an earlier job of the list
    std::optional<nanoseconds> period; ///< of that job's iteration; empty: what the model predicts for it

    bool operator==(const JobStart&) const = default;
};

/// Which ranks of the launch a job has.
struct RankChoice {
    std::vector<int> ranks;     ///< in the order of the job, such as that of its ring; empty: by host
    std::uint32_t per_host = 0; ///< so many of each host: the lowest that no other job names or has taken

    bool operator==(const RankChoice&) const = default;
};

/// One of the jobs that run at the same time.
struct JobSpec {
    std::string name;                ///< of its folder, and in front of its lines; empty: the only job
    std::string profile;             ///< name or path
    std::vector<Override> overrides; ///< of the profile
    RankChoice ranks;
    JobStart start;
};

/// A jobs file as text, with the name that messages call it by.
struct JobsSource {
    std::string name;
    std::string text;
};

/// Reads the file. Throws ProfileError.
JobsSource load_jobs(const std::string& path);

/// Parses and checks in one pass, as `parse_profile` does. Throws ProfileError ("jobs.json: /jobs/1/ranks:
/// ..."). Paths of profiles count from the folder of the jobs file.
std::vector<JobSpec> parse_jobs(const JobsSource& source);

/// Rank i of job k is number [k][i] of the launch. `hosts`: of each rank of
/// the launch. Throws ProfileError with `file`, JSON path and rule: a rank that does not exist, that two jobs
/// have, or that none has; a job without ranks.
std::vector<std::vector<int>> assign_ranks(const std::vector<JobSpec>& jobs, const std::vector<int>& hosts,
                                           const std::string& file);

/// Overrides of the command line hold for every job, and take precedence over those of the jobs file.
std::vector<Override> joined_overrides(const std::vector<Override>& of_job,
                                       const std::vector<Override>& of_command_line);

} // namespace generator
