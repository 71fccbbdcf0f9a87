#pragma once

#include "generator/jobs_file.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace generator {

/// A time in a sweep: "250ms", or a number of periods of the job that is not shifted: "T", "0.5T", "T/8".
struct SweepTime {
    nanoseconds time{0};
    std::optional<double> periods; ///< then there is no time

    bool operator==(const SweepTime&) const = default;
};

/// Offsets at which one job of several begins after another one: `count` of them, evenly spaced, both ends
/// included.
struct SweepRange {
    std::string job; ///< that is shifted; empty: the last of the jobs file
    SweepTime from;
    SweepTime to;
    std::uint32_t count = 0;

    bool operator==(const SweepRange&) const = default;
};

/// Which jobs a sweep is about, by their numbers in the jobs file. Others begin when the file says.
struct SweepRoles {
    std::size_t shifted = 0;
    std::size_t reference = 0; ///< begins at 0; its iterations are the periods

    bool operator==(const SweepRoles&) const = default;
};

/// "[JOB=]FROM..TO:COUNT", e.g. "0..T:9", "b=0..250ms:6". Throws UserError.
SweepRange parse_sweep(const std::string& text);

/// The job that the range names, against the one whose phase it has in the jobs file, or else the first other
/// one. Throws UserError: no such job, nobody else to be shifted against.
SweepRoles sweep_roles(const SweepRange& range, const std::vector<JobSpec>& jobs);

/// In which `period` is one T. Throws UserError when they do not ascend.
std::vector<nanoseconds> sweep_offsets(const SweepRange& range, nanoseconds period);

} // namespace generator
