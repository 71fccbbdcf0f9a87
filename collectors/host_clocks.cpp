#include "collectors/host_clocks.hpp"

#include <algorithm>
#include <limits>

namespace collectors {

namespace {

constexpr std::int64_t shortest_suspend_ns = 1'000'000;
constexpr int tries = 5;

} // namespace

ClockMoment clock_moment(ClockReader read) noexcept {
    ClockMoment best;
    std::int64_t narrowest = std::numeric_limits<std::int64_t>::max();
    for (int i = 0; i < tries; ++i) {
        const std::int64_t before = read(CLOCK_MONOTONIC);
        ClockMoment moment;
        moment.realtime_ns = read(CLOCK_REALTIME);
        moment.boottime_ns = read(CLOCK_BOOTTIME);
        moment.raw_ns = read(CLOCK_MONOTONIC_RAW);
        const std::int64_t width = read(CLOCK_MONOTONIC) - before;
        moment.monotonic_ns = before + width / 2;
        if (width < narrowest) {
            narrowest = width;
            best = moment;
        }
    }
    return best;
}

ClockFacts clock_facts(const ClockMoment& start, const ClockMoment& end) {
    ClockFacts facts;
    facts.end_monotonic_ns = end.monotonic_ns;
    facts.end_realtime_ns = end.realtime_ns;
    const std::int64_t elapsed = end.monotonic_ns - start.monotonic_ns;
    const std::int64_t suspended = end.boottime_ns - start.boottime_ns - elapsed;
    facts.suspended_ns = suspended >= shortest_suspend_ns ? suspended : 0;
    if (const std::int64_t raw = end.raw_ns - start.raw_ns; raw > 0)
        facts.slew_ppm = 1e6 * static_cast<double>(elapsed - raw) / static_cast<double>(raw);
    return facts;
}

std::int64_t realtime_step_ns(const TraceInfo& info) {
    if (info.clocks.end_monotonic_ns == 0)
        return 0;
    return (info.clocks.end_realtime_ns - info.start_realtime_ns) -
           (info.clocks.end_monotonic_ns - info.start_monotonic_ns) - info.clocks.suspended_ns;
}

std::int64_t SuspendWatch::add(std::int64_t monotonic_before_ns, std::int64_t boottime_ns,
                               std::int64_t monotonic_after_ns) noexcept {
    const std::int64_t at_least = boottime_ns - monotonic_after_ns;
    const std::int64_t at_most = boottime_ns - monotonic_before_ns;
    const std::int64_t suspended = first_ ? 0 : at_least - most_ahead_ns_;
    const bool was_suspended = suspended >= shortest_suspend_ns;
    most_ahead_ns_ = first_ || was_suspended ? at_most : std::min(most_ahead_ns_, at_most);
    first_ = false;
    return was_suspended ? suspended : 0;
}

} // namespace collectors
