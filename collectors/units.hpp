#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

/// Sizes, times and rates as people write them: `25MiB`, `112ms`, `100Gbit`.
namespace collectors {

/// A data rate. Text form: a number and one of bit, kbit, Mbit, Gbit, Tbit (powers of 1000), e.g. `1gbit`.
struct BitRate {
    std::uint64_t bits_per_second = 0;

    double bytes_per_second() const { return static_cast<double>(bits_per_second) / 8.0; }
    auto operator<=>(const BitRate&) const = default;
};

/// Parses `4096`, `64k`, `25MiB`, `1.5MB`: k/M/G/T alone or with `iB` are powers of 1024, `kB` `MB` `GB` `TB`
/// powers of 1000. Case does not matter. Throws std::invalid_argument with the reason: not a number, unknown
/// unit, negative, not a whole number of bytes, above 2^63 - 1.
std::uint64_t parse_byte_size(std::string_view text);

/// Parses `500us`, `112ms`, `1.5s`, `2min`, `1h`, `250ns`. The unit is required. Throws
/// std::invalid_argument.
std::chrono::nanoseconds parse_duration(std::string_view text);

/// Parses `100Gbit`, `2.5gbit`, `10Mbit`, `100Gbit/s`, `100Gbps`. The unit is required. Throws
/// std::invalid_argument.
BitRate parse_bit_rate(std::string_view text);

/// A time as a number of seconds.
inline double in_seconds(std::chrono::nanoseconds duration) {
    return std::chrono::duration<double>(duration).count();
}

/// Shortest text with at most four significant digits: `1.023 MB` (powers of 1000).
std::string format_bytes(double bytes);
/// `12.83 ms`, `500 us`, `1.036 s`.
std::string format_duration(std::chrono::nanoseconds duration);
/// `1 Gbit/s`, `957.3 Mbit/s`.
std::string format_bit_rate(double bits_per_second);

} // namespace collectors
