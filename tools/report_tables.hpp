#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

/// Tables of report_text: each with its heading, or nothing if the report has no such numbers.
namespace tools {

std::string times_table(const nlohmann::ordered_json& run);
std::string ratio_table(const nlohmann::ordered_json& run);
std::string backlog_table(const nlohmann::ordered_json& run);
std::string background_table(const nlohmann::ordered_json& run);
std::string loss_table(const nlohmann::ordered_json& run);
std::string switch_table(const nlohmann::ordered_json& run);
std::string informative_table(const nlohmann::ordered_json& run);
std::string comparison_table(const nlohmann::ordered_json& comparison);

} // namespace tools
