#pragma once

#include "tools/report_run.hpp"

#include <span>
#include <string>

/// Parts of report.json.
namespace tools {

/// The numbers that matter, each with unit, formula and how far it can be trusted: five of a run, three of a
/// trace.
nlohmann::ordered_json headline_section(const ReportRun& run);

/// The vocabulary of the IETF's drafts on AI fabrics, informative.
nlohmann::ordered_json informative_section(const ReportRun& run);

/// Differences between two runs, with intervals.
nlohmann::ordered_json comparison_section(const ReportRun& baseline, const ReportRun& run);

/// What the terms mean.
nlohmann::ordered_json glossary_section();

/// mean, p50, p95, p99 and max; null for no values.
nlohmann::ordered_json distribution_section(std::vector<double> values);

/// A number of the document; nullopt if the path leads nowhere or to null.
std::optional<double> number_in(const nlohmann::ordered_json& document, const std::string& path);
/// Null if there is none.
nlohmann::ordered_json section_in(const nlohmann::ordered_json& document, const std::string& path);

} // namespace tools
