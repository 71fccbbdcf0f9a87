#pragma once

#include "tools/report_run.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

/// Parts of report.json.
namespace tools {

/// What really ran, whatever the profile's description says: iterations, buckets, byte scale; how a trace was
/// recorded.
std::string ran_text(const ReportRun& run);

/// "2026-01-31T12:00:00Z"
std::string utc_text(std::int64_t realtime_ns);

/// The numbers that matter, each with unit, formula and how far it can be trusted: five of a run, three of a
/// trace.
nlohmann::ordered_json headline_section(const ReportRun& run);

/// The vocabulary of the IETF's drafts on AI fabrics, informative.
nlohmann::ordered_json informative_section(const ReportRun& run);

/// Differences between two runs, with intervals.
nlohmann::ordered_json comparison_section(const ReportRun& baseline, const ReportRun& run);

/// What the terms mean.
nlohmann::ordered_json glossary_section();

/// 0 where a difference of values as large as `scale` is nothing but rounding.
double without_noise(double difference, double scale);

/// mean, p50, p95, p99 and max; null for no values.
nlohmann::ordered_json distribution_section(std::vector<double> values);

/// A number of the document; nullopt if the path leads nowhere or to null.
std::optional<double> number_in(const nlohmann::ordered_json& document, const std::string& path);
/// Null if there is none.
nlohmann::ordered_json section_in(const nlohmann::ordered_json& document, const std::string& path);

} // namespace tools
