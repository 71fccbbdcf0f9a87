#include "generator/profile_reader.hpp"

#include "collectors/printable.hpp"
#include "generator/profile_suggestion.hpp"
#include "generator/profile_syntax.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace generator {
namespace {

using nlohmann::json;

constexpr std::size_t max_shown_value = 60;
constexpr double exact_limit = 9007199254740992.0; // 2^53: above, a double no longer holds every whole number

} // namespace

std::string shown(const json& value) {
    if (value.is_structured()) {
        return value.is_object() ? "an object" : "a list";
    }
    std::string text = value.dump();
    return text.size() <= max_shown_value ? text : text.substr(0, max_shown_value) + "...";
}

std::string shown(std::uint64_t limit) {
    return fmt::format("{}", limit);
}

std::string shown(double limit) {
    return fmt::format("{}", limit);
}

std::string shown(std::chrono::nanoseconds limit) {
    return collectors::format_duration(limit);
}

std::string Origin::name(const std::string& path) const {
    for (const auto& [pointer, option] : options) {
        if (path == pointer) {
            return option;
        }
        if (path.starts_with(pointer + '/')) {
            return option + ": " + path;
        }
    }
    if (const auto found = made.find(path); found != made.end()) {
        return found->second + ": " + path;
    }
    const std::string place = path.empty() ? "/" : path;
    return file.empty() ? place : file + ": " + place;
}

ObjectReader::ObjectReader(const json& object, const Origin& origin, std::string path)
    : object_(&object), origin_(&origin), path_(std::move(path)) {
    if (!object.is_object()) {
        throw std::invalid_argument(
            fmt::format("{}: must be an object, is {}", origin.name(path_), shown(object)));
    }
}

void ObjectReader::fail(std::string_view key, const std::string& rule) const {
    fail_below(key, "", rule);
}

void ObjectReader::fail_below(std::string_view key, const std::string& below, const std::string& rule) const {
    const std::string path = key.empty() ? path_ : child_path(path_, key);
    throw std::invalid_argument(origin_->name(path + below) + ": " + rule);
}

const json* ObjectReader::raw(std::string_view key) {
    if (std::find(known_.begin(), known_.end(), key) == known_.end()) {
        known_.emplace_back(key);
    }
    const auto found = object_->find(key);
    return found == object_->end() || found->is_null() ? nullptr : &*found;
}

std::optional<std::string> ObjectReader::text(std::string_view key) {
    const json* value = raw(key);
    if (value == nullptr) {
        return std::nullopt;
    }
    if (!value->is_string()) {
        fail(key, "must be text, is " + shown(*value));
    }
    check_text(key, *value);
    return value->get<std::string>();
}

/// Names are printed and become parts of paths and labels.
void ObjectReader::check_text(std::string_view key, const json& value) const {
    if (collectors::has_control_characters(value.get<std::string>())) {
        fail(key, "must not hold control characters, is " + collectors::printable(shown(value)));
    }
}

std::optional<std::vector<std::string>> ObjectReader::texts(std::string_view key) {
    const json* value = raw(key);
    if (value == nullptr) {
        return std::nullopt;
    }
    const json list = value->is_string() ? json::array({*value}) : *value;
    if (!list.is_array() ||
        !std::all_of(list.begin(), list.end(), [](const json& item) { return item.is_string(); })) {
        fail(key, "must be text or a list of texts, is " + shown(*value));
    }
    for (const json& item : list) {
        check_text(key, item);
    }
    return list.get<std::vector<std::string>>();
}

std::optional<bool> ObjectReader::flag(std::string_view key) {
    const json* value = raw(key);
    if (value == nullptr) {
        return std::nullopt;
    }
    if (!value->is_boolean()) {
        fail(key, "must be true or false, is " + shown(*value));
    }
    return value->get<bool>();
}

std::uint64_t ObjectReader::whole(std::string_view key, const json& value, Range<std::uint64_t> range) const {
    if (!value.is_number()) {
        fail(key, "must be a whole number, is " + shown(value));
    }
    if (value.is_number_unsigned()) {
        const auto number = value.get<std::uint64_t>();
        check_range(key, number, range, value);
        return number;
    }
    // What is left is negative, or the library made it a double: 1e6, a fraction, or more than 64 bits hold.
    const auto number = value.get<double>();
    if (number < static_cast<double>(range.least)) {
        fail(key, fmt::format("must be at least {}, is {}", range.least, shown(value)));
    }
    if (number > static_cast<double>(range.most)) {
        fail(key, fmt::format("must be at most {}, is {}", range.most, shown(value)));
    }
    if (number != std::floor(number) || number > exact_limit) {
        fail(key, "must be a whole number, is " + shown(value));
    }
    return static_cast<std::uint64_t>(number);
}

std::optional<std::uint64_t> ObjectReader::count(std::string_view key, Range<std::uint64_t> range) {
    const json* value = raw(key);
    return value == nullptr ? std::nullopt : std::optional(whole(key, *value, range));
}

std::optional<std::vector<std::uint64_t>> ObjectReader::counts(std::string_view key,
                                                               Range<std::uint64_t> range) {
    const json* list = raw(key);
    if (list == nullptr) {
        return std::nullopt;
    }
    if (!list->is_array()) {
        fail(key, "must be a list, is " + shown(*list));
    }
    std::vector<std::uint64_t> numbers;
    for (const json& value : *list) {
        numbers.push_back(whole(key, value, range));
    }
    return numbers;
}

std::optional<double> ObjectReader::number(std::string_view key, Range<double> range) {
    const json* value = raw(key);
    if (value == nullptr) {
        return std::nullopt;
    }
    if (!value->is_number()) {
        fail(key, "must be a number, is " + shown(*value));
    }
    const auto number = value->get<double>();
    check_range(key, number, range, *value);
    return number;
}

std::optional<std::size_t> ObjectReader::choice(std::string_view key,
                                                std::span<const std::string_view> names) {
    const json* value = raw(key);
    if (value == nullptr) {
        return std::nullopt;
    }
    const std::string name = value->is_string() ? value->get<std::string>() : "";
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
        fail(key, fmt::format("must be one of {}, is {}{}", fmt::join(names, ", "), shown(*value),
                              suggestion(name, std::vector<std::string>(names.begin(), names.end()))));
    }
    return static_cast<std::size_t>(found - names.begin());
}

ObjectReader ObjectReader::section(std::string_view key) {
    static const json empty = json::object();
    const json* value = raw(key);
    return {value == nullptr ? empty : *value, *origin_, child_path(path_, key)};
}

std::vector<ObjectReader> ObjectReader::sections(std::string_view key) {
    std::vector<ObjectReader> readers;
    const json* list = raw(key);
    if (list == nullptr) {
        return readers;
    }
    if (!list->is_array()) {
        fail(key, "must be a list, is " + shown(*list));
    }
    const std::string path = child_path(path_, key);
    for (const json& item : *list) {
        readers.emplace_back(item, *origin_, child_path(path, std::to_string(readers.size())));
    }
    return readers;
}

std::vector<std::string> ObjectReader::keys() const {
    std::vector<std::string> keys;
    for (const auto& [key, value] : object_->items()) {
        keys.push_back(key);
    }
    return keys;
}

void ObjectReader::finish() const {
    for (const auto& [key, value] : object_->items()) {
        const bool known = std::find(known_.begin(), known_.end(), key) != known_.end() ||
                           std::find(with_unit_.begin(), with_unit_.end(), key) != with_unit_.end();
        if (!known) {
            fail(key, fmt::format("unknown key{} known keys: {}",
                                  nearest_name(key, known_) ? suggestion(key, known_) : ";",
                                  fmt::join(known_, ", ")));
        }
    }
}

} // namespace generator
