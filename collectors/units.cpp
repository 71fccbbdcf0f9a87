#include "collectors/units.hpp"

#include <array>
#include <cctype>
#include <cmath>
#include <limits>
#include <span>
#include <stdexcept>

#include <fmt/format.h>

namespace collectors {

namespace {

__extension__ using WideInteger = unsigned __int128;

struct Unit {
    std::string_view name;
    std::uint64_t factor;
};

constexpr std::array<Unit, 14> byte_units{{{"", 1},
                                           {"b", 1},
                                           {"k", 1ULL << 10},
                                           {"kib", 1ULL << 10},
                                           {"kb", 1'000},
                                           {"m", 1ULL << 20},
                                           {"mib", 1ULL << 20},
                                           {"mb", 1'000'000},
                                           {"g", 1ULL << 30},
                                           {"gib", 1ULL << 30},
                                           {"gb", 1'000'000'000},
                                           {"t", 1ULL << 40},
                                           {"tib", 1ULL << 40},
                                           {"tb", 1'000'000'000'000}}};

constexpr std::array<Unit, 7> duration_units{{{"ns", 1},
                                              {"us", 1'000},
                                              {"\xc2\xb5s", 1'000}, // micro sign
                                              {"ms", 1'000'000},
                                              {"s", 1'000'000'000},
                                              {"min", 60'000'000'000},
                                              {"h", 3'600'000'000'000}}};

constexpr std::array<Unit, 5> rate_units{
    {{"bit", 1}, {"kbit", 1'000}, {"mbit", 1'000'000}, {"gbit", 1'000'000'000}, {"tbit", 1'000'000'000'000}}};

std::string_view trimmed(std::string_view text) {
    const auto first = text.find_first_not_of(' ');
    if (first == std::string_view::npos)
        return {};
    return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

std::string lower_case(std::string_view text) {
    std::string lower(text);
    for (char& letter : lower)
        letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    return lower;
}

[[noreturn]] void refuse(std::string_view text, const std::string& reason) {
    throw std::invalid_argument(fmt::format("'{}': {}", text, reason));
}

/// A decimal number without rounding: digits / 10^decimals.
struct Decimal {
    std::uint64_t digits = 0;
    int decimals = 0;
    std::string_view unit; ///< what follows the number
};

Decimal split_number(std::string_view whole_text, std::string_view examples) {
    const std::string_view text = trimmed(whole_text);
    if (text.starts_with('-'))
        refuse(whole_text, "must not be negative");
    Decimal number;
    bool point = false;
    bool any_digit = false;
    std::size_t position = 0;
    for (; position < text.size(); ++position) {
        const char letter = text[position];
        if (letter == '.' && !point) {
            point = true;
            continue;
        }
        if (letter < '0' || letter > '9')
            break;
        any_digit = true;
        if (number.digits > std::numeric_limits<std::uint64_t>::max() / 10 - 1 || number.decimals == 18)
            refuse(whole_text, "has too many digits");
        number.digits = number.digits * 10 + static_cast<std::uint64_t>(letter - '0');
        number.decimals += point ? 1 : 0;
    }
    if (!any_digit)
        refuse(whole_text, fmt::format("is not a number with a unit; write for example {}", examples));
    number.unit = trimmed(text.substr(position));
    return number;
}

/// digits / 10^decimals * factor, if that is a whole number below 2^63.
std::uint64_t exact_product(std::string_view text, const Decimal& number, std::uint64_t factor,
                            std::string_view noun) {
    WideInteger product = static_cast<WideInteger>(number.digits) * factor;
    for (int i = 0; i < number.decimals; ++i) {
        if (product % 10 != 0)
            refuse(text, fmt::format("is not a whole number of {}", noun));
        product /= 10;
    }
    if (product > static_cast<WideInteger>(std::numeric_limits<std::int64_t>::max()))
        refuse(text, fmt::format("is above 2^63 - 1 {}", noun));
    return static_cast<std::uint64_t>(product);
}

std::uint64_t parse_with_units(std::string_view text, std::string_view unit, const Decimal& number,
                               std::span<const Unit> units, std::string_view noun,
                               std::string_view examples) {
    for (const Unit& known : units) {
        if (unit == known.name)
            return exact_product(text, number, known.factor, noun);
    }
    refuse(text, unit.empty()
                     ? fmt::format("has no unit; write for example {}", examples)
                     : fmt::format("unknown unit '{}'; write for example {}", number.unit, examples));
}

/// Up to four significant digits in the largest unit that keeps the number at or above 1.
std::string format_scaled(double value, std::span<const Unit> units) {
    std::size_t chosen = 0;
    const double size = std::abs(value);
    // 999.95 would be printed as 1000: it belongs to the next unit already.
    while (chosen + 1 < units.size() && size >= 0.99995 * static_cast<double>(units[chosen + 1].factor))
        ++chosen;
    const double scaled = value / static_cast<double>(units[chosen].factor);
    const std::string number =
        std::abs(scaled) < 9999.5 ? fmt::format("{:.4g}", scaled) : fmt::format("{:.0f}", scaled);
    return fmt::format("{} {}", number, units[chosen].name);
}

} // namespace

std::uint64_t parse_byte_size(std::string_view text) {
    constexpr std::string_view examples = "4096, 64k, 25MiB, 1.5MB";
    const Decimal number = split_number(text, examples);
    return parse_with_units(text, lower_case(number.unit), number, byte_units, "bytes", examples);
}

std::chrono::nanoseconds parse_duration(std::string_view text) {
    constexpr std::string_view examples = "500us, 112ms, 1.5s, 2min";
    const Decimal number = split_number(text, examples);
    return std::chrono::nanoseconds(static_cast<std::int64_t>(
        parse_with_units(text, lower_case(number.unit), number, duration_units, "nanoseconds", examples)));
}

BitRate parse_bit_rate(std::string_view text) {
    constexpr std::string_view examples = "10Mbit, 2.5Gbit, 100Gbit";
    const Decimal number = split_number(text, examples);
    if (number.unit.ends_with("Bps") || number.unit.ends_with("B/s"))
        refuse(text, "is in bytes per second; give bits per second, for example 100Gbit");
    std::string unit = lower_case(number.unit);
    if (unit.ends_with("bps"))
        unit.replace(unit.size() - 3, 3, "bit");
    else if (unit.ends_with("bit/s"))
        unit.resize(unit.size() - 2);
    return BitRate{parse_with_units(text, unit, number, rate_units, "bits per second", examples)};
}

std::string format_bytes(double bytes) {
    static constexpr std::array<Unit, 5> units{
        {{"B", 1}, {"kB", 1'000}, {"MB", 1'000'000}, {"GB", 1'000'000'000}, {"TB", 1'000'000'000'000}}};
    return format_scaled(bytes, units);
}

std::string format_duration(std::chrono::nanoseconds duration) {
    static constexpr std::array<Unit, 4> units{
        {{"ns", 1}, {"us", 1'000}, {"ms", 1'000'000}, {"s", 1'000'000'000}}};
    if (duration.count() == 0)
        return "0 s";
    return format_scaled(static_cast<double>(duration.count()), units);
}

std::string format_bit_rate(double bits_per_second) {
    static constexpr std::array<Unit, 5> units{{{"bit/s", 1},
                                                {"kbit/s", 1'000},
                                                {"Mbit/s", 1'000'000},
                                                {"Gbit/s", 1'000'000'000},
                                                {"Tbit/s", 1'000'000'000'000}}};
    return format_scaled(bits_per_second, units);
}

} // namespace collectors
