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

/// Why nothing of the run may be judged or compared: "the run is interrupted"; empty: it is complete. Pure.
std::string unfinished(const nlohmann::ordered_json& run);

/// At least one; whatever the run's `status` says. Pure.
std::vector<MeasuredValue> measured_values(const AskedQuantity& asked, const nlohmann::ordered_json& run);

} // namespace generator
