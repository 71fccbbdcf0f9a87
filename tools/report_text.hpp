#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace tools {

/// report.json as people read it on a terminal, at most 100 columns: for each run what ran, the verdict, the
/// numbers that matter and every warning, then tables. Pure.
std::string report_text(const nlohmann::ordered_json& report);

} // namespace tools
