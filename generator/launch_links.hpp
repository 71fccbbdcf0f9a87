#pragma once

#include "generator/background_traffic.hpp"
#include "generator/control_plane.hpp"
#include "generator/lifelines.hpp"
#include "generator/run_clocks.hpp"
#include "generator/stop_request.hpp"
#include "generator/transport.hpp"

#include <asio/io_context.hpp>

#include <optional>

namespace generator {

/// What connects the ranks as long as the launch lasts.
struct LaunchLinks {
    LaunchLinks(MpiSession& mpi, StopRequest& stop_request)
        : session(mpi), stop(stop_request), control(mpi, stop_request), context(1),
          lifelines(control.rank(), stop_request) {}

    bool leads() const { return control.rank() == 0; } ///< the launch

    MpiSession& session;
    StopRequest& stop;
    ControlPlane control;                        ///< of all ranks
    std::optional<ControlPlane> job_control;     ///< of this rank's job
    asio::io_context context;                    ///< of the data connections while they are opened
    Lifelines lifelines;                         ///< in use when there are several jobs
    std::optional<RunClocks> clocks;             ///< of the hosts of all jobs
    Connections connections;                     ///< of this rank, while no step has them
    std::optional<BackgroundTraffic> background; ///< of a job whose profile has some; lasts for one step
};

} // namespace generator
