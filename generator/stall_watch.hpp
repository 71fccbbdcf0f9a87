#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

namespace generator {

/// Decides when a bucket in flight has failed: no byte moved for as long as the stall timeout.
class StallWatch {
public:
    using Moment = std::chrono::steady_clock::time_point;

    StallWatch(std::chrono::nanoseconds timeout, Moment now) : timeout_(timeout), quiet_since_(now) {}

    /// How often to ask: a stall is found late by two of them at most.
    std::chrono::nanoseconds interval() const {
        return std::min<std::chrono::nanoseconds>(timeout_ / 10, std::chrono::seconds(1));
    }

    /// How long no byte has moved for certain, if that is too long. `bytes`: moved so far; `running_since`:
    /// when the oldest bucket in flight began, if there is one.
    std::optional<std::chrono::nanoseconds> stalled(Moment now, std::uint64_t bytes,
                                                    std::optional<Moment> running_since) {
        if (!running_since || bytes != bytes_)
            quiet_since_ = now;
        else
            quiet_since_ = std::max(quiet_since_, *running_since);
        bytes_ = bytes;
        const std::chrono::nanoseconds quiet = now - quiet_since_;
        return running_since && quiet >= timeout_ ? std::optional(quiet) : std::nullopt;
    }

private:
    std::chrono::nanoseconds timeout_;
    Moment quiet_since_;
    std::uint64_t bytes_ = 0;
};

} // namespace generator
