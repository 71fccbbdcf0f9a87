#pragma once

#include "tools/report_input.hpp"

#include "generator/expectation.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>

namespace tools {

/// The iterations of a run that count, in the time of a trace: from the first one's start to the last one's
/// end.
struct MeasuredIterations {
    std::chrono::nanoseconds from{0};
    std::chrono::nanoseconds to{0};
    std::uint32_t count = 0;
};

/// nullopt: the input is no run, or has no such iteration in its timeline.
std::optional<MeasuredIterations> measured_iterations(const ReportInput& input, const TraceSource& trace);

/// The summaries of a trace as run.json has them in `interfaces`, for the standard windows and those that
/// somebody asks about; of the measured iterations if the input has such, else of the whole trace. Reads the
/// trace block by block, three times.
nlohmann::ordered_json trace_summaries(const ReportInput& input, const TraceSource& trace,
                                       std::span<const generator::Expectation> asked);

} // namespace tools
