#pragma once

#include "generator/run_record.hpp"

#include <string>

namespace generator {

/// What the counters of a run's interfaces showed: two in full; of more, the first in full and all of them in
/// one table. `out` is the run directory.
std::string interfaces_text(const RunRecord& record, const std::string& out);

} // namespace generator
