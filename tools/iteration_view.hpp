#pragma once

#include "generator/profile.hpp"
#include "generator/workload.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// One iteration of one rank, as gradburst-profile shows it.
namespace tools {

using std::chrono::nanoseconds;

/// A stretch of the rank's computing.
struct Phase {
    enum class Kind { forward, backward, optimizer };

    Kind kind = Kind::forward;
    nanoseconds begin{0};
    nanoseconds end{0};

    bool operator==(const Phase&) const = default;
};

std::string phase_name(Phase::Kind kind);

/// A bucket that the rank takes part in. Times are positions in the rank's computing.
struct BucketView {
    std::uint32_t number = 0; ///< in the workload's list
    generator::Collective collective = generator::Collective::all_reduce;
    std::string group;
    std::uint64_t bytes = 0;
    std::size_t tensors = 0; ///< 0: not made of tensors
    nanoseconds ready_after{0};
    nanoseconds needed_at{0};

    bool operator==(const BucketView&) const = default;
};

struct IterationView {
    std::vector<Phase> phases; ///< in order of time; what lies between them is waiting
    nanoseconds compute{0};    ///< without waiting for buckets
    std::vector<BucketView> buckets;

    /// The optimizer's begin; where backward ends without one.
    nanoseconds optimizer_start() const;
    std::uint64_t bytes() const; ///< of all buckets
};

/// What `rank` does in `iteration`, jitter included. Bytes are scaled as the profile's own line rate asks
/// for.
IterationView view_iteration(const generator::Profile& profile, int rank, std::uint32_t iteration);

/// Consecutive buckets of one kind, drawn as one line.
struct BucketLine {
    std::vector<BucketView> buckets; ///< at least one

    std::uint64_t bytes() const;
    nanoseconds first_ready() const;
    nanoseconds last_ready() const;
    nanoseconds first_needed() const;
    nanoseconds last_needed() const;
};

/// One line per bucket when there are at most `most_lines`. Otherwise buckets of the same collective and
/// group that become ready in the same kind of phase share lines, equally many each; there may be as many
/// lines more as there are such classes.
std::vector<BucketLine> bucket_lines(const IterationView& view, std::size_t most_lines);

} // namespace tools
