#pragma once

#include "generator/plan.hpp"

#include <cstddef>
#include <span>

namespace generator {

/// The number of dependent steps of a collective: the longest chain of transfers of which each must wait for
/// (or follow) the one before. Signals carry nothing and are no steps. `plans`: of all ranks, by rank. Throws
/// std::logic_error when a transfer waits for itself or plans do not fit together.
std::size_t dependent_steps(std::span<const RankPlan> plans);

} // namespace generator
