#pragma once

#include "generator/command_line.hpp"
#include "generator/control_plane.hpp"
#include "generator/run_record.hpp"
#include "generator/workload.hpp"

#include <string>

namespace generator {

/// What all ranks know and agree on before anything is opened: the profile, each rank's host and address, the
/// line rate.
struct Agreement {
    RunRecord record;
    Workload workload;
};

/// The same on every rank. Throws JointFailure: a wrong profile, another version somewhere, no such
/// interface, too few ports, a rank that is alone although its launcher meant it to be one of several.
Agreement agree(const CommandLine& command, ControlPlane& control);

/// What --dry-run prints: the effective settings, and the bytes of each rank.
std::string dry_run_text(const Agreement& agreement);

/// Throws UserError when this process is alone although its launcher meant it to be one of several (a program
/// built for another MPI than the launcher's, or srun without --mpi).
void require_expected_world_size(int world_size);

} // namespace generator
