#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace tools {

/// The verdict of report.json as JUnit XML, for build servers: a suite for each run, a test case for each
/// expectation; what was not measured is an error. Pure.
std::string junit_xml(const nlohmann::ordered_json& report);

} // namespace tools
