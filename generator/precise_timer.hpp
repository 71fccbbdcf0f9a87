#pragma once

#include <asio/awaitable.hpp>
#include <asio/io_context.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <functional>

namespace generator {

/// Wakes a coroutine at a moment: sleeps until shortly before it, then spins. How long before is what the
/// machine needs: wake-ups are hundreds of microseconds late on a virtual machine, a few on bare metal, and
/// change with the load. The timer learns it from its own last wake-ups.
class PreciseTimer {
public:
    /// Measures the wake-ups of some short sleeps first (about 30 ms).
    explicit PreciseTimer(asio::io_context& context);

    /// Between the end of the sleep and the moment: a quarter more than the latest of the last 16 wake-ups,
    /// 20 us to 1 ms.
    std::chrono::nanoseconds margin() const { return margin_; }

    /// Returns at `moment` or, when that has passed, at once. Spins for at most 2 % of the wait, yielding the
    /// CPU to whoever else is ready. As long as `others_run`, other work of the context gets its turns
    /// between two looks at the clock.
    asio::awaitable<void> wait_until(
        std::chrono::steady_clock::time_point moment,
        std::function<bool()> others_run = [] { return false; });

private:
    void learn(std::chrono::nanoseconds late);

    asio::io_context& context_;
    std::array<std::chrono::nanoseconds, 16> lateness_{}; ///< of the last wake-ups
    std::size_t wake_ups_ = 0;
    std::chrono::nanoseconds margin_{0};
};

} // namespace generator
