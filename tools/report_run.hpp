#pragma once

#include "tools/report_input.hpp"
#include "tools/timeline_numbers.hpp"

#include "generator/expectation.hpp"

#include <span>

namespace tools {

/// An input with what its timeline says; what sections of the report are made of.
struct ReportRun {
    const ReportInput* input = nullptr;
    /// As run.json; of a trace, and of a run that ended before its metrics were computed, with the summaries
    /// of the traces as `interfaces`.
    nlohmann::ordered_json document;
    TimelineNumbers timeline;
};

ReportRun make_report_run(const ReportInput& input, std::span<const generator::Expectation> asked);

/// Its entry in `runs` of report.json. `is_baseline`: nothing is expected of it.
nlohmann::ordered_json run_section(const ReportRun& run, std::span<const generator::Expectation> expectations,
                                   bool is_baseline);

} // namespace tools
