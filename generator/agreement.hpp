#pragma once

#include "generator/command_line.hpp"
#include "generator/control_plane.hpp"
#include "generator/jobs_file.hpp"
#include "generator/needs.hpp"
#include "generator/run_record.hpp"
#include "generator/sweep_range.hpp"
#include "generator/workload.hpp"

#include <optional>
#include <string>

namespace generator {

/// What all ranks know and agree on before anything is opened: the profile, each rank's host and address, the
/// line rate.
struct Agreement {
    RunRecord record;
    Workload workload;
    Needs needs;              ///< of the fullest host
    FreeSpace free;           ///< the least memory of any host; disk on rank 0 alone
    std::vector<int> members; ///< the job's ranks, by their numbers in the launch
    JobStart start;
};

/// The jobs one by one, and then together, one of them shifted from step to step.
struct Sweep {
    SweepRange range;
    SweepRoles roles;
    std::optional<nanoseconds> period; ///< as the jobs file says
};

/// All jobs that run at the same time; mostly one, with all ranks. A job has a name only beside others.
struct LaunchAgreement {
    std::vector<Agreement> jobs;
    std::optional<std::size_t> own_job; ///< this rank's; empty only in a step in which it takes no part
    std::vector<HostFacts> ranks;       ///< of the launch
    std::vector<std::string> sampled;   ///< the interface of each rank of the launch
    std::string jobs_text;              ///< the jobs file; empty without one
    std::optional<Sweep> sweep;

    /// Fields that belong to the launch: out, overwrite, json, dry_run.
    const RunSettings& settings() const { return jobs.front().record.profile.run; }
};

/// The same on every rank. Throws JointFailure: a wrong profile or jobs file, another version somewhere, no
/// such interface, too few ports, a run that cannot fit into memory or onto the disk, a rank that is alone
/// although its launcher meant it to be one of several.
LaunchAgreement agree(const CommandLine& command, ControlPlane& control);

/// Throws UserError when this process is alone although its launcher meant it to be one of several (a program
/// built for another MPI than the launcher's, or srun without --mpi).
void require_expected_world_size(int world_size);

} // namespace generator
