#pragma once

#include "generator/host_facts.hpp"
#include "generator/launch_links.hpp"
#include "generator/launch_record.hpp"

#include <chrono>
#include <vector>

namespace generator {

/// The instant at which a launch begins, the same on all hosts, by this host's clock: `delay` after all have
/// agreed, or the wall clock time of `record.start_at`, for which the hosts' wall clocks are compared. Both
/// are noted in `record`. All ranks call it. Throws on rank 0, whose wall clock counts, if that time has
/// passed.
std::chrono::steady_clock::time_point agree_on_launch_start(LaunchLinks& links, LaunchRecord& record,
                                                            const std::vector<HostFacts>& ranks,
                                                            std::chrono::nanoseconds delay);

} // namespace generator
