#pragma once

#include "tools/chart_bins.hpp"
#include "tools/report_input.hpp"

#include <cstddef>
#include <optional>

#include <nlohmann/json.hpp>

namespace tools {

/// The iteration that is measured first; 0 where the run does not say.
std::uint32_t first_measured_iteration(const ReportInput& input);

/// From the first byte of the first two measured iterations to the last, in ns since the run's start.
std::optional<ChartStretch> first_iterations(const ReportInput& input);

/// Buckets of all ranks as bars: whole iterations, at most `most_bars` bars, the first ones and those around
/// `peak_ns`; with more than that in one iteration, not all ranks. Says what is shown. Null without a
/// timeline.
nlohmann::ordered_json timeline_json(const ReportInput& input, std::size_t most_bars,
                                     std::optional<std::int64_t> peak_ns);

/// Durations of buckets and how late they started, as order statistics over the measured iterations.
nlohmann::ordered_json distributions_json(const ReportInput& input);

} // namespace tools
