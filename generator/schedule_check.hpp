#pragma once

#include "generator/workload.hpp"

#include <cstddef>
#include <optional>

namespace generator {

/// A rank that waits for ever, and for which bucket (its number in the workload's list); and a rank that
/// would have to take part but waits for another bucket before it launches that one.
struct EndlessWait {
    int rank = 0;
    std::size_t bucket = 0;
    int other_rank = 0;
    std::size_t other_bucket = 0;

    bool operator==(const EndlessWait&) const = default;
};

/// Lets all ranks go through the steps of one iteration, each bucket complete as soon as all of its ranks
/// have it at the head of a queue. Times do not matter, only what waits for what.
std::optional<EndlessWait> find_endless_wait(const Profile& profile, const Workload& workload,
                                             int world_size);

} // namespace generator
