#pragma once

#include "tools/report_input.hpp"

#include <cstddef>
#include <span>

#include <nlohmann/json.hpp>

namespace tools {

/// How much is drawn. Everything that is said in numbers comes from the report, and from all the data.
struct ChartSettings {
    std::size_t most_bins = 2000;        ///< of one curve
    std::size_t most_fine_values = 4000; ///< of one curve, beside its bins
    std::size_t most_numbers = 450'000;  ///< of all curves of all inputs together: some 5 bytes each
    std::size_t most_bars = 12'000;      ///< of the timeline of all inputs together
};

/// What report.html draws, beside the report: "gradburst-charts/1". Curves come as bins of equal width over
/// the whole run (least, mean and largest of each), and in full where single bursts should be seen: the first
/// two measured iterations, and around the largest peak. Traces are read twice, block by block.
nlohmann::ordered_json charts_json(std::span<const ReportInput> inputs, const ChartSettings& settings = {});

} // namespace tools
