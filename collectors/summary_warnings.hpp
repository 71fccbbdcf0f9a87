#pragma once

#include "collectors/summary.hpp"

#include <string>
#include <vector>

namespace collectors {

/// In CAPITALS why a number of the summary should not be trusted.
std::vector<std::string> warnings_about(const InterfaceSummary& summary);

} // namespace collectors
