#pragma once

#include "generator/command_line.hpp"
#include "generator/control_plane.hpp"

namespace generator {

/// One run on all ranks, from the profile to the report. Returns the exit code; throws JointFailure when the
/// ranks could not even start.
int run_job(const CommandLine& command, MpiSession& session);

/// Throws UserError when this process is alone although its launcher meant it to be one of several (a program
/// built for another MPI than the launcher's, or srun without --mpi).
void require_expected_world_size(int world_size);

} // namespace generator
