#pragma once

#include "tools/report_input.hpp"

#include "generator/expectation.hpp"

#include <span>

namespace tools {

/// The summaries of a trace as run.json has them in `interfaces`, for the standard windows and those that
/// somebody asks about; of the measured iterations if the input has such, else of the whole trace. Reads the
/// trace block by block, three times.
nlohmann::ordered_json trace_summaries(const ReportInput& input, const TraceSource& trace,
                                       std::span<const generator::Expectation> asked);

} // namespace tools
