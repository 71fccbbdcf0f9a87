#pragma once

#include "collectors/units.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

/// Numbers of bytes that may be more than 64 bits hold: they stop at `beyond_counting`, and are shown as
/// "more than".
namespace generator {

inline constexpr std::uint64_t beyond_counting = std::numeric_limits<std::uint64_t>::max();

constexpr std::uint64_t saturating_product(std::uint64_t a, std::uint64_t b) {
    std::uint64_t result = 0;
    return __builtin_mul_overflow(a, b, &result) ? beyond_counting : result;
}

constexpr std::uint64_t saturating_sum(std::uint64_t a, std::uint64_t b) {
    std::uint64_t result = 0;
    return __builtin_add_overflow(a, b, &result) ? beyond_counting : result;
}

/// For JSON: null instead of a number that is not the right one.
constexpr std::optional<std::uint64_t> if_counted(std::uint64_t bytes) {
    return bytes == beyond_counting ? std::nullopt : std::optional(bytes);
}

/// "153.3 MB"
inline std::string size_text(std::uint64_t bytes) {
    return (bytes == beyond_counting ? "more than " : "") +
           collectors::format_bytes(static_cast<double>(bytes));
}

/// "153342192 B"
inline std::string bytes_in_full(std::uint64_t bytes) {
    return (bytes == beyond_counting ? "more than " : "") + std::to_string(bytes) + " B";
}

} // namespace generator
