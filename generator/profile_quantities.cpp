#include "generator/profile_reader.hpp"

#include "generator/profile_syntax.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>

// The getters of ObjectReader for values with a unit: sizes, times and rates.
namespace generator {
namespace {

using nlohmann::json;
using std::chrono::nanoseconds;

constexpr std::array<std::string_view, 4> time_suffixes{"_ns", "_us", "_ms", "_s"};
constexpr std::array<std::uint64_t, 4> time_factors{1, 1'000, 1'000'000, 1'000'000'000};
constexpr std::array<std::string_view, 1> bit_rate_suffixes{"_bits_per_second"};

constexpr std::uint64_t max_whole = std::numeric_limits<std::int64_t>::max();

/// Nanoseconds of `value` times `factor`; nullopt if 64 bits do not hold them. Whole numbers stay exact.
std::optional<nanoseconds> times(const json& value, std::uint64_t factor) {
    if (value.is_number_unsigned()) {
        const auto number = value.get<std::uint64_t>();
        return number > max_whole / factor
                   ? std::nullopt
                   : std::optional(nanoseconds(static_cast<std::int64_t>(number * factor)));
    }
    const double product = value.get<double>() * static_cast<double>(factor);
    return std::abs(product) >= static_cast<double>(max_whole)
               ? std::nullopt
               : std::optional(nanoseconds(std::llround(product)));
}

} // namespace

std::span<const std::string_view> duration_suffixes() {
    return time_suffixes;
}

std::span<const std::string_view> rate_suffixes() {
    return bit_rate_suffixes;
}

std::optional<ObjectReader::Quantity> ObjectReader::quantity(std::string_view key,
                                                             std::span<const std::string_view> suffixes) {
    std::optional<Quantity> found;
    if (const json* value = raw(key)) {
        if (!value->is_string()) {
            fail(key, fmt::format("must be text with a unit, is {} (or give a number as \"{}{}\")",
                                  shown(*value), key, suffixes.size() > 2 ? suffixes[2] : suffixes[0]));
        }
        found = Quantity{std::string(key), value, std::nullopt};
    }
    for (std::size_t i = 0; i < suffixes.size(); ++i) {
        const std::string full = std::string(key).append(suffixes[i]);
        with_unit_.push_back(full);
        const auto member = object_->find(full);
        if (member == object_->end() || member->is_null()) {
            continue;
        }
        if (found) {
            fail(full, fmt::format("\"{}\" says the same; give one of them", found->key));
        }
        if (!member->is_number()) {
            fail(full, "must be a number, is " + shown(*member));
        }
        found = Quantity{full, &*member, i};
    }
    return found;
}

std::optional<std::uint64_t> ObjectReader::bytes(std::string_view key, Range<std::uint64_t> range) {
    const json* value = raw(key);
    if (value == nullptr) {
        return std::nullopt;
    }
    if (!value->is_string()) {
        return whole(key, *value, range);
    }
    std::uint64_t size = 0;
    try {
        size = collectors::parse_byte_size(value->get<std::string>());
    } catch (const std::invalid_argument& error) {
        fail(key, error.what());
    }
    check_range(key, size, range, *value);
    return size;
}

std::optional<nanoseconds> ObjectReader::duration(std::string_view key, Range<nanoseconds> range) {
    const std::optional<Quantity> found = quantity(key, time_suffixes);
    if (!found) {
        return std::nullopt;
    }
    std::optional<nanoseconds> time;
    try {
        time = found->suffix ? times(*found->value, time_factors[*found->suffix])
                             : collectors::parse_duration(found->value->get<std::string>());
    } catch (const std::invalid_argument& error) {
        fail(found->key, error.what());
    }
    if (!time) {
        fail(found->key, fmt::format("must be at most {}, is {}", shown(range.most), shown(*found->value)));
    }
    check_range(found->key, *time, range, *found->value);
    return time;
}

std::optional<collectors::BitRate> ObjectReader::rate(std::string_view key) {
    const std::optional<Quantity> found = quantity(key, bit_rate_suffixes);
    if (!found) {
        return std::nullopt;
    }
    if (found->suffix) {
        return collectors::BitRate{whole(found->key, *found->value, {1, max_whole})};
    }
    collectors::BitRate rate;
    try {
        rate = collectors::parse_bit_rate(found->value->get<std::string>());
    } catch (const std::invalid_argument& error) {
        fail(found->key, error.what());
    }
    if (rate.bits_per_second == 0) {
        fail(found->key, "must be greater than 0, is " + shown(*found->value));
    }
    return rate;
}

} // namespace generator
