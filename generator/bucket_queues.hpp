#pragma once

#include "generator/schedule.hpp"

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace generator {

/// A queue of a job: the group whose collectives it runs, and which of the group's `in_flight` queues it is.
struct QueueId {
    std::uint32_t group = 0;
    std::uint32_t slot = 0;

    auto operator<=>(const QueueId&) const = default;
};

/// In which order the buckets of one iteration start on one rank: what the engine and the fluid model have in
/// common. In each queue one bucket runs at a time, in the order of the list, whatever the order of their
/// launches: the other ranks of the group do the same, and their bytes meet on the same connections.
class BucketQueues {
public:
    BucketQueues() = default;
    explicit BucketQueues(const IterationSchedule& schedule);

    /// Computing launches `bucket` (an index into the schedule). Returns it if it starts now.
    std::optional<std::size_t> launch(std::size_t bucket);

    /// A running bucket is complete. Returns the one that starts now in its queue, if that was launched.
    std::optional<std::size_t> complete(std::size_t bucket);

    bool is_launched(std::size_t bucket) const { return state_.at(bucket) != State::planned; }
    bool is_running(std::size_t bucket) const { return state_.at(bucket) == State::running; }
    bool is_complete(std::size_t bucket) const { return state_.at(bucket) == State::complete; }
    std::vector<std::size_t> running() const; ///< in list order

private:
    enum class State { planned, launched, running, complete };

    std::optional<std::size_t> start_if_first(std::size_t bucket);

    std::vector<State> state_;
    std::vector<std::optional<std::size_t>> before_; ///< the bucket before it in its queue
    std::vector<std::optional<std::size_t>> behind_; ///< the bucket behind it in its queue
};

} // namespace generator
