#pragma once

#include <string_view>

/// The files of tools/report, the chart library and the schemas of run.json and sweep.json, as the build put
/// them into the program.
namespace tools::page {

extern const std::string_view html;
extern const std::string_view style;
extern const std::string_view program;
extern const std::string_view dygraphs;   ///< empty: this build draws no charts
extern const std::string_view run_schema; ///< run.schema.json
extern const std::string_view sweep_schema;

} // namespace tools::page
