#pragma once

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>

#include <nlohmann/json.hpp>

/// Numbers that files may hold: sums and differences of a few of their times still fit 64 bits.
namespace collectors {

constexpr std::int64_t latest_ns = std::int64_t{1} << 60;          ///< 36 years
constexpr std::int64_t latest_realtime_ns = std::int64_t{1} << 62; ///< in the year 2116

constexpr bool is_sensible(std::int64_t time_ns) {
    return time_ns >= -latest_ns && time_ns <= latest_ns;
}

/// Throws std::runtime_error that names the key if it is no whole number in [least, most].
inline std::int64_t whole_number(const nlohmann::ordered_json& document, const char* key, std::int64_t least,
                                 std::int64_t most) {
    const nlohmann::ordered_json& value = document.at(key);
    const bool too_large = value.is_number_unsigned() && value.get<std::uint64_t>() > std::uint64_t(most);
    if (!value.is_number_integer() || too_large || value.get<std::int64_t>() < least ||
        value.get<std::int64_t>() > most)
        throw std::runtime_error(std::string("/") + key + ": must be a whole number from " +
                                 std::to_string(least) + " to " + std::to_string(most));
    return value.get<std::int64_t>();
}

/// ns
inline std::int64_t time_of(const nlohmann::ordered_json& document, const char* key) {
    return whole_number(document, key, -latest_ns, latest_ns);
}

/// ns; not below 0
inline std::int64_t length_of(const nlohmann::ordered_json& document, const char* key) {
    return whole_number(document, key, 0, latest_ns);
}

inline std::uint64_t count_of(const nlohmann::ordered_json& document, const char* key) {
    return static_cast<std::uint64_t>(
        whole_number(document, key, 0, std::numeric_limits<std::int64_t>::max()));
}

} // namespace collectors
