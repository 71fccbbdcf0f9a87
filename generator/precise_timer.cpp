#include "generator/precise_timer.hpp"

#include <asio/post.hpp>
#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>

#include <algorithm>
#include <sched.h>

namespace generator {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;
using std::chrono::nanoseconds;

constexpr auto calibration_sleep = microseconds(1500);
constexpr nanoseconds least_margin = microseconds(20);
constexpr nanoseconds largest_margin = microseconds(1000);
/// A CPU that has slept for long wakes later than one that has dozed: after a long sleep comes a short one.
constexpr nanoseconds doze = microseconds(3000);
constexpr int largest_spin_share = 50; ///< one part in 50 of the wait

} // namespace

PreciseTimer::PreciseTimer(asio::io_context& context) : context_(context) {
    asio::io_context quiet(1);
    for (std::size_t i = 0; i < lateness_.size(); ++i) {
        const Clock::time_point moment = Clock::now() + calibration_sleep;
        asio::steady_timer timer(quiet, moment);
        timer.async_wait([&](std::error_code) { learn(Clock::now() - moment); });
        quiet.restart();
        quiet.run();
    }
}

asio::awaitable<void> PreciseTimer::wait_until(Clock::time_point moment, std::function<bool()> others_run) {
    const nanoseconds wait = moment - Clock::now();
    if (wait > 2 * doze) {
        asio::steady_timer timer(context_, moment - doze);
        co_await timer.async_wait(asio::use_awaitable);
    }
    const nanoseconds early = std::min(margin_, std::max(wait / largest_spin_share, least_margin));
    if (moment - Clock::now() > early) {
        asio::steady_timer timer(context_, moment - early);
        co_await timer.async_wait(asio::use_awaitable);
        learn(Clock::now() - (moment - early));
    }
    // Ranks of one host are due together and may wake on one CPU: whoever spins there must let the others in.
    while (Clock::now() < moment) {
        sched_yield();
        if (others_run())
            co_await asio::post(context_, asio::use_awaitable);
    }
}

void PreciseTimer::learn(nanoseconds late) {
    lateness_[wake_ups_++ % lateness_.size()] = late;
    margin_ = std::clamp(*std::max_element(lateness_.begin(), lateness_.end()) * 5 / 4, least_margin,
                         largest_margin);
}

} // namespace generator
