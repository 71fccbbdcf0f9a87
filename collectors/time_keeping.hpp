#pragma once

#include <chrono>
#include <optional>
#include <string>

struct timex;

namespace collectors {

/// Who steers the wall clock of a host, and how well: what NTP or PTP told the kernel.
struct TimeSteering {
    bool synchronised = false;                  ///< somebody steers it, and says that it is right
    std::chrono::microseconds maximum_error{0}; ///< of CLOCK_REALTIME; grows by 500 ppm when nobody steers it
    std::chrono::microseconds estimated_error{0}; ///< as who steers it believes
    double frequency_ppm = 0;                     ///< by which the oscillator is corrected

    bool operator==(const TimeSteering&) const = default;
};

/// What is known about the time at one interface of a host; what is not known is empty.
struct TimeKeeping {
    std::optional<TimeSteering> steering; ///< unknown where the kernel may not be asked (a sandbox)
    std::optional<std::string> ptp_clock; ///< hardware clock of the interface: "ptp0", or "none"

    bool operator==(const TimeKeeping&) const = default;
};

/// From what adjtimex returned and filled in. Pure.
TimeSteering steering_of(int state, const timex& answer);

/// Asks the kernel, and changes nothing. The interface is one of the calling thread's network namespace.
TimeKeeping time_keeping(const std::string& interface);

} // namespace collectors
