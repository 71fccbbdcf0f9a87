#pragma once

#include "generator/expectation.hpp"

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace generator {

/// What run.json knows of a quantity, on one interface or of the whole run.
struct MeasuredValue {
    std::string where;
    std::optional<double> lower;
    std::optional<double> estimate;
    std::optional<double> upper;
    std::optional<double> predicted;
    std::string problem; ///< why it must not be judged; empty: nothing is wrong with it
};

/// At least one. Pure.
std::vector<MeasuredValue> measured_values(const Expectation& expectation, const nlohmann::ordered_json& run);

} // namespace generator
