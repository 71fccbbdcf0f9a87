#include "generator/precise_timer.hpp"

#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>

#include <algorithm>
#include <vector>

namespace generator {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;

constexpr int calibration_sleeps = 40;
constexpr auto calibration_sleep = microseconds(1500);
constexpr std::chrono::nanoseconds least_margin = microseconds(20);
constexpr std::chrono::nanoseconds largest_margin = microseconds(300);

} // namespace

PreciseTimer::PreciseTimer(asio::io_context& context) : context_(context) {
    asio::io_context quiet(1);
    std::vector<Clock::duration> late;
    for (int i = 0; i < calibration_sleeps; ++i) {
        const Clock::time_point moment = Clock::now() + calibration_sleep;
        asio::steady_timer timer(quiet, moment);
        timer.async_wait([&](std::error_code) { late.push_back(Clock::now() - moment); });
        quiet.restart();
        quiet.run();
    }
    std::sort(late.begin(), late.end());
    margin_ =
        std::clamp<std::chrono::nanoseconds>(late[late.size() * 95 / 100], least_margin, largest_margin);
}

asio::awaitable<void> PreciseTimer::wait_until(Clock::time_point moment) {
    if (moment - Clock::now() > margin_) {
        asio::steady_timer timer(context_, moment - margin_);
        co_await timer.async_wait(asio::use_awaitable);
    }
    while (Clock::now() < moment) {
    }
}

} // namespace generator
