#pragma once

#include "collectors/trace.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace collectors {

/// More than any port moves: 100 Tbit/s for as long as the two readings can lie apart, beside 1 TiB, because
/// a prediction may jump.
inline bool is_beyond_any_port(const Reading& reading, const Reading& before) {
    constexpr std::uint64_t at_once = std::uint64_t{1} << 40;
    constexpr double bytes_per_ns = 12'500;
    const std::uint64_t rise = reading.bytes - before.bytes;
    return rise > at_once && static_cast<double>(rise - at_once) >
                                 bytes_per_ns * static_cast<double>(reading.end_ns - before.begin_ns);
}

/// True if no difference may be taken between the two: the counter started anew, or one of the two readings
/// is no count.
inline bool starts_segment(const Reading& reading, const Reading& before) {
    return reading.new_segment || reading.bytes < before.bytes || is_beyond_any_port(reading, before);
}

/// The stretches of readings between which differences mean something: each begins where a counter started
/// anew.
inline std::vector<std::span<const Reading>> segments(std::span<const Reading> readings) {
    std::vector<std::span<const Reading>> result;
    std::size_t first = 0;
    for (std::size_t i = 1; i <= readings.size(); ++i) {
        if (i == readings.size() || starts_segment(readings[i], readings[i - 1])) {
            result.push_back(readings.subspan(first, i - first));
            first = i;
        }
    }
    return result;
}

/// The most likely instant of a reading, in nanoseconds (a double holds 104 days to half a nanosecond).
inline double midpoint_ns(const Reading& reading) {
    return static_cast<double>(reading.begin_ns) + static_cast<double>(reading.end_ns - reading.begin_ns) / 2;
}

} // namespace collectors
