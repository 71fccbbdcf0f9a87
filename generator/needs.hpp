#pragma once

#include "generator/profile.hpp"
#include "generator/workload.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace generator {

/// An amount that is at least and probably so many bytes.
struct Estimate {
    std::uint64_t least = 0;
    std::uint64_t likely = 0;

    bool operator==(const Estimate&) const = default;
};

/// What a run takes of the host that rank 0 is on, beyond what any run takes.
struct Needs {
    std::uint64_t iterations = 0; ///< that the run may come to, when nothing slows it down
    /// Memory of all ranks of the host: what --verify holds (every bucket of an iteration), and the
    /// timelines and TCP logs, which rank 0 collects.
    Estimate memory;
    Estimate disk; ///< in the run directory: a trace and a slow lane per interface, timeline.csv and tcp.csv

    bool operator==(const Needs&) const = default;
};

/// Where a run takes place.
struct Placement {
    int world_size = 1;
    int ranks_per_host = 1;           ///< of the fullest host
    int interfaces = 1;               ///< that are sampled, on all hosts together
    std::optional<BitRate> line_rate; ///< unknown: the network takes no time
};

/// Pure. `least` counts an iteration as long as it computes and each line as short as it can be.
Needs estimate_needs(const Profile& profile, const Workload& workload, const Placement& placement);

/// What a host has to give; nullopt where it does not tell.
struct FreeSpace {
    std::optional<std::uint64_t> memory_bytes;
    std::optional<std::uint64_t> disk_bytes; ///< where the run directory will be
};

/// A line for each thing of which a run probably needs more than is free: what, how much, why, what to do.
std::vector<std::string> space_warnings(const Needs& needs, const FreeSpace& free);

/// Why a run certainly does not fit; empty when it may.
std::string space_error(const Needs& needs, const FreeSpace& free);

} // namespace generator
