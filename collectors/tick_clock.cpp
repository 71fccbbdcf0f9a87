#include "collectors/tick_clock.hpp"

#include "collectors/monotonic_clock.hpp"

#include <algorithm>
#include <array>

#include <sys/prctl.h>

namespace collectors {

namespace {

constexpr std::int64_t pure_sleep_from_ns = std::chrono::nanoseconds(sleeping_from).count();
constexpr std::int64_t longest_spin_ns = 100'000;
constexpr std::int64_t pure_spin_up_to_ns = 50'000;
constexpr std::int64_t longest_sleep_ns = 50'000'000; // so that a stop is noticed

void sleep_until(std::int64_t deadline_ns) noexcept {
    const timespec deadline{deadline_ns / 1'000'000'000, deadline_ns % 1'000'000'000};
    ::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, nullptr);
}

std::int64_t median_wake_up_lateness() {
    std::array<std::int64_t, 33> lateness{};
    for (std::int64_t& late : lateness) {
        const std::int64_t deadline = clock_ns() + 150'000;
        sleep_until(deadline);
        late = clock_ns() - deadline;
    }
    std::nth_element(lateness.begin(), lateness.begin() + lateness.size() / 2, lateness.end());
    return lateness[lateness.size() / 2];
}

} // namespace

TickClock::TickClock(std::int64_t interval_ns) {
    // The default slack of 50 us would make every wake-up late by that much.
    ::prctl(PR_SET_TIMERSLACK, 1UL);
    if (interval_ns >= pure_sleep_from_ns)
        return;
    const std::int64_t lateness = median_wake_up_lateness();
    spin_ns_ = interval_ns <= pure_spin_up_to_ns && lateness > interval_ns / 2
                   ? interval_ns
                   : std::min({lateness, interval_ns / 8, longest_spin_ns});
}

bool TickClock::wait_until(std::int64_t deadline_ns, const std::stop_token& stop) const noexcept {
    const std::int64_t wake_up_ns = deadline_ns - spin_ns_;
    for (std::int64_t now = clock_ns(); now < wake_up_ns; now = clock_ns()) {
        if (stop.stop_requested())
            return false;
        sleep_until(std::min(wake_up_ns, now + longest_sleep_ns));
    }
    while (clock_ns() < deadline_ns) {
    }
    return !stop.stop_requested();
}

} // namespace collectors
