#pragma once

#include "generator/agreement.hpp"

#include <vector>

namespace generator {

/// When each job begins, counted from the start of the launch. A phase counts in iterations of an earlier job
/// as the model predicts them for it alone, unless the jobs file says how long they are. Throws UserError
/// when neither is known.
std::vector<nanoseconds> start_offsets(const std::vector<Agreement>& jobs);

} // namespace generator
