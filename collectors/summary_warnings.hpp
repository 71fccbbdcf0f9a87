#pragma once

#include "collectors/summary.hpp"

#include <span>
#include <string>
#include <vector>

namespace collectors {

/// In CAPITALS why a number of the summary should not be trusted.
std::vector<std::string> warnings_about(const InterfaceSummary& summary);

/// The same about the clocks of the hosts, each of which is told once, whatever was recorded on it.
std::vector<std::string> warnings_about_hosts(std::span<const TraceInfo> traces);

} // namespace collectors
