#pragma once

#include "generator/command_line.hpp"
#include "generator/control_plane.hpp"
#include "generator/stop_request.hpp"

namespace generator {

/// One run on all ranks, from the profile to the report; or several jobs at the same time, each on some of
/// them. Returns the exit code; throws JointFailure when the ranks could not even start, or were stopped
/// before they had. After a stop the process ends here.
int run_job(const CommandLine& command, MpiSession& session, StopRequest& stop);

} // namespace generator
