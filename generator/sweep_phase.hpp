#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <vector>

namespace generator {

/// An iteration of a job as its slowest ranks lived it, counted from the start of the launch.
struct IterationSpan {
    std::chrono::nanoseconds start{0};  ///< of its last rank
    std::chrono::nanoseconds length{0}; ///< on its slowest rank
    bool measured = true;               ///< after the warm-up

    bool operator==(const IterationSpan&) const = default;
};

/// Of each job the measured iterations during which all jobs ran, be they in their warm-up: before that, and
/// after one has ended, the others have the network to themselves. Of a job without iterations nothing is
/// known, and so there are none.
std::vector<std::vector<IterationSpan>>
measured_together(const std::vector<std::vector<IterationSpan>>& jobs);

/// How long after the iterations of one job those of another one really began.
struct HeldOffset {
    std::chrono::nanoseconds median{0};
    std::chrono::nanoseconds first{0};
    std::chrono::nanoseconds last{0};
    std::size_t iterations = 0;

    std::chrono::nanoseconds drift() const { return last - first; }
    bool operator==(const HeldOffset&) const = default;
};

/// A step whose offset drifted by more than this share of the period, or was on the median this far from what
/// was asked, says little about the asked one.
inline constexpr double most_offset_error = 0.05;

/// Each iteration of `shifted` against the nearest start of one of `reference`, plus the multiple of `period`
/// that is nearest to what was asked, later to the iteration before: an offset that drifts does not jump from
/// T to 0. nullopt: no iteration of either.
std::optional<HeldOffset> held_offset(const std::vector<IterationSpan>& reference,
                                      const std::vector<IterationSpan>& shifted,
                                      std::chrono::nanoseconds asked, std::chrono::nanoseconds period);

bool is_held(const HeldOffset& held, std::chrono::nanoseconds asked, std::chrono::nanoseconds period);

/// nullopt without iterations.
std::optional<std::chrono::nanoseconds> median_length(const std::vector<IterationSpan>& iterations);

} // namespace generator
