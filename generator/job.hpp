#pragma once

#include "generator/command_line.hpp"
#include "generator/control_plane.hpp"

namespace generator {

/// One run on all ranks, from the profile to the report. Returns the exit code; throws JointFailure when the
/// ranks could not even start.
int run_job(const CommandLine& command, MpiSession& session);

} // namespace generator
