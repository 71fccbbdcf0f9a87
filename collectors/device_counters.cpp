#include "collectors/device_counters.hpp"

#include "collectors/monotonic_clock.hpp"

#include <cerrno>

namespace collectors {

namespace {

constexpr std::int64_t reopen_every_ns = 100'000'000;

} // namespace

CounterSource::Counters DeviceCounters::read() noexcept {
    Counters counters;
    if (lost_) {
        const std::int64_t now = clock_ns();
        if (now < next_attempt_ns_) {
            counters.error = ENODEV;
            return counters;
        }
        next_attempt_ns_ = now + reopen_every_ns;
        counters.error = open();
        if (counters.error != 0)
            return counters;
    }
    counters.begin_ns = clock_ns();
    counters.error = read_rx(counters.rx_bytes);
    counters.middle_ns = clock_ns();
    if (counters.error == 0)
        counters.error = read_tx(counters.tx_bytes);
    counters.end_ns = clock_ns();

    if (counters.error != 0 && !lost_)
        next_attempt_ns_ = counters.end_ns + reopen_every_ns;
    counters.reopened = lost_ && counters.error == 0;
    lost_ = counters.error != 0;
    return counters;
}

} // namespace collectors
