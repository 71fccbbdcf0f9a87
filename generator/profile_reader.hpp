#pragma once

#include "collectors/units.hpp"

#include <nlohmann/json_fwd.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace generator {

/// Values and limits as messages show them.
std::string shown(const nlohmann::json& value);
std::string shown(std::uint64_t limit);
std::string shown(double limit);
std::string shown(std::chrono::nanoseconds limit);

/// Both ends belong to the range.
template <typename Value>
struct Range {
    Value least;
    Value most;
};

/// Numbers of ranks, which MPI counts with a C int.
inline constexpr Range<std::uint64_t> rank_range{0, std::numeric_limits<std::int32_t>::max()};

/// Where values come from, for messages: the file, or the option that set a field.
struct Origin {
    std::string file;                           ///< empty: the message starts with the JSON path
    std::map<std::string, std::string> options; ///< JSON path -> option that set it
    std::map<std::string, std::string> made; ///< JSON path -> option that needed this object around its field

    /// `resnet50.json: /run/seed`; `--seed` if an option set the field, `--set /run: /run/seed` if it set
    /// something around it.
    std::string name(const std::string& path) const;
};

/// Reads one JSON object field by field. Each getter checks type and range and throws std::invalid_argument
/// with the field's place and rule; a field that is absent or null gives nullopt. What the getters were asked
/// for are the known keys: `finish` turns every other key into an error. The JSON and the origin must outlive
/// the reader.
class ObjectReader {
public:
    ObjectReader(const nlohmann::json& object, const Origin& origin, std::string path = "");

    std::optional<std::string> text(std::string_view key);
    std::optional<std::vector<std::string>> texts(std::string_view key); ///< one string, or a list of strings
    std::optional<bool> flag(std::string_view key);
    std::optional<std::uint64_t> count(std::string_view key, Range<std::uint64_t> range);
    std::optional<std::vector<std::uint64_t>> counts(std::string_view key, Range<std::uint64_t> range);
    std::optional<double> number(std::string_view key, Range<double> range);
    /// A number of bytes, or text: `"25MiB"`.
    std::optional<std::uint64_t> bytes(std::string_view key, Range<std::uint64_t> range);
    /// `"key": "112ms"`, or a number with the unit in the key: `key_ns`, `key_us`, `key_ms`, `key_s`.
    std::optional<std::chrono::nanoseconds> duration(std::string_view key,
                                                     Range<std::chrono::nanoseconds> range);
    /// `"key": "100Gbit"`, or a number as `key_bits_per_second`; greater than 0.
    std::optional<collectors::BitRate> rate(std::string_view key);
    /// Position in `names`.
    std::optional<std::size_t> choice(std::string_view key, std::span<const std::string_view> names);
    const nlohmann::json* raw(std::string_view key); ///< nullptr: absent or null

    ObjectReader section(std::string_view key);               ///< an absent section reads as an empty one
    std::vector<ObjectReader> sections(std::string_view key); ///< a list of objects

    std::vector<std::string> keys() const; ///< all that the object has

    void finish() const; ///< throws at the first key that no getter asked for
    [[noreturn]] void fail(std::string_view key, const std::string& rule) const;
    /// Of something inside the field: `below` is its JSON path from there, such as "/3/0".
    [[noreturn]] void fail_below(std::string_view key, const std::string& below,
                                 const std::string& rule) const;

private:
    void check_text(std::string_view key, const nlohmann::json& value) const;

    /// A quantity: text that says its unit, or a number under a key that says it.
    struct Quantity {
        std::string key; ///< as it stands in the file
        const nlohmann::json* value = nullptr;
        std::optional<std::size_t> suffix; ///< position in the suffixes; nullopt: the value is text
    };
    std::optional<Quantity> quantity(std::string_view key, std::span<const std::string_view> suffixes);
    std::uint64_t whole(std::string_view key, const nlohmann::json& value, Range<std::uint64_t> range) const;
    template <typename Value>
    void check_range(std::string_view key, Value value, Range<Value> range,
                     const nlohmann::json& given) const;

    const nlohmann::json* object_;
    const Origin* origin_;
    std::string path_;
    std::vector<std::string> known_;
    std::vector<std::string> with_unit_; ///< further known keys: those that carry their unit
};

/// Ends of the key of a time or a rate that is given as a number.
std::span<const std::string_view> duration_suffixes();
std::span<const std::string_view> rate_suffixes();

template <typename Value>
void ObjectReader::check_range(std::string_view key, Value value, Range<Value> range,
                               const nlohmann::json& given) const {
    if (value < range.least) {
        fail(key, "must be at least " + shown(range.least) + ", is " + shown(given));
    }
    if (range.most < value) {
        fail(key, "must be at most " + shown(range.most) + ", is " + shown(given));
    }
}

} // namespace generator
