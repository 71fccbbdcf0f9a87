#pragma once

#include "generator/expectation.hpp"

#include <chrono>
#include <optional>
#include <span>
#include <vector>

namespace generator {

/// The standard windows and those that an expectation names, ascending, each once.
std::vector<std::chrono::nanoseconds> asked_windows(std::span<const Expectation> expectations);

/// The link rates r for which B_max(r) is computed, ascending, each once: 10 to 90 % of the line rate, or
/// multiples of the mean rate where no line rate is known, and those that an expectation names.
std::vector<collectors::BitRate> asked_rates(std::span<const Expectation> expectations,
                                             std::optional<collectors::BitRate> line_rate,
                                             double mean_bits_per_second);

} // namespace generator
