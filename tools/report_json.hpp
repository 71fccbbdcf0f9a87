#pragma once

#include "tools/report_input.hpp"

#include "generator/expectation.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tools {

struct ReportSettings {
    std::vector<generator::Expectation> expectations; ///< beside those of each run's profile
    bool first_is_baseline = false;                   ///< compare the second input with the first
    std::string created_at;                           ///< "2026-01-31T12:00:00Z"
};

/// report.json, "gradburst-report/1", see report.schema.json. What was not measured is null.
nlohmann::ordered_json report_json(std::span<const ReportInput> inputs, const ReportSettings& settings);

} // namespace tools
