#pragma once

#include "generator/expectation.hpp"

#include <chrono>
#include <span>
#include <vector>

namespace generator {

/// The standard windows and those that an expectation names, ascending, each once.
std::vector<std::chrono::nanoseconds> asked_windows(std::span<const Expectation> expectations);

/// Rates of queues that an expectation names, ascending, each once.
std::vector<collectors::BitRate> asked_rates(std::span<const Expectation> expectations);

} // namespace generator
