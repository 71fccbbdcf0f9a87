#pragma once

#include "generator/clock_links.hpp"
#include "generator/control_plane.hpp"
#include "generator/host_facts.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace generator {

/// How the hosts' clocks stand to rank 0's, measured before the traffic of a run and after it, never during
/// it. On rank 0 it asks; the lowest rank of each other host answers.
class RunClocks {
public:
    /// Measures for the first time; on all ranks. Hosts that the data network does not connect with rank 0
    /// are asked over MPI. Throws JointFailure if the run was stopped meanwhile.
    RunClocks(ControlPlane& control, const std::vector<HostFacts>& ranks,
              const std::vector<Endpoint>& endpoints, ConnectSettings settings);

    /// Measures again over the data network, for a second at most; on rank 0, once no rank sends any more.
    /// `go_on` is asked before each host.
    /// What was measured last is the start of another run.
    void begin_again();
    void measure_end(const std::function<bool()>& go_on);

    /// On rank 0, of each rank's host.
    std::vector<ClockAlignment> by_rank() const;
    /// On rank 0: why the data network was not used; empty if it was.
    const std::string& warning() const { return warning_; }

private:
    ClockAlignment& of_host(int rank) { return by_host_.at(network_of(rank)); }
    const std::string& network_of(int rank) const;
    void open_links(ControlPlane& control, const std::vector<Endpoint>& endpoints,
                    const ConnectSettings& settings);

    const std::vector<HostFacts>& ranks_;
    std::vector<int> answering_; ///< the lowest ranks of all hosts but rank 0's
    std::optional<ClockLinks> links_;
    std::map<std::string, ClockAlignment> by_host_;
    std::string warning_;
};

} // namespace generator
