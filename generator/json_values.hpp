#pragma once

#include "collectors/units.hpp"
#include "generator/distribution.hpp"

#include <chrono>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

/// How our files say what may not be known: null, never a number that stands for it.
namespace generator {

template <class Value>
nlohmann::ordered_json or_null(const std::optional<Value>& value) {
    return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
}

inline nlohmann::ordered_json seconds_or_null(const std::optional<std::chrono::nanoseconds>& time) {
    return time ? nlohmann::ordered_json(collectors::in_seconds(*time)) : nlohmann::ordered_json();
}

inline nlohmann::ordered_json text_or_null(const std::string& text) {
    return text.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(text);
}

inline nlohmann::ordered_json distribution_json(const std::optional<Distribution>& values) {
    if (!values)
        return {};
    return {{"mean", values->mean},
            {"p50", values->p50},
            {"p95", values->p95},
            {"p99", values->p99},
            {"max", values->max}};
}

} // namespace generator
