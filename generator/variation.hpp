#pragma once

#include "generator/profile.hpp"

#include <cstdint>

/// How the computing of a rank differs from iteration to iteration. Everything is drawn from seed, rank and
/// iteration, so that any iteration can be replayed alone, with integers and single IEEE operations, so that
/// all machines draw the same.
namespace generator {

/// Factor on compute time: (1 + AR(1) drift + white part, never below 0.1) x heavy tail.
double jitter_factor(const Jitter& jitter, std::uint64_t seed, int rank, std::uint32_t iteration);

/// Factor of all stragglers that `rank` is among in this iteration.
double straggler_factor(const std::vector<Straggler>& stragglers, std::uint64_t seed, int rank,
                        std::uint32_t iteration);

/// How long `rank` waits for input before it computes; scale.time not yet applied.
nanoseconds input_stall(const InputStalls& stalls, std::uint64_t seed, int rank, std::uint32_t iteration);

/// Whether iterations or ranks compute for different times at all.
bool varies(const Profile& profile);

/// The profile whose iterations and ranks are all alike.
Profile without_variation(Profile profile);

} // namespace generator
