#pragma once

#include <asio/awaitable.hpp>
#include <asio/io_context.hpp>

#include <chrono>

namespace generator {

/// Wakes a coroutine at a moment: sleeps until shortly before it, then spins. The margin is what the machine
/// needs: wake-ups here are tens to hundreds of microseconds late (a virtual machine) or a few (bare metal).
class PreciseTimer {
public:
    /// Measures the wake-up lateness of some short sleeps (about 60 ms) and takes their 95th percentile as
    /// the margin, between 20 and 300 us.
    explicit PreciseTimer(asio::io_context& context);

    std::chrono::nanoseconds margin() const { return margin_; }

    /// Returns at `moment` or, when that has passed, at once.
    asio::awaitable<void> wait_until(std::chrono::steady_clock::time_point moment);

private:
    asio::io_context& context_;
    std::chrono::nanoseconds margin_{0};
};

} // namespace generator
