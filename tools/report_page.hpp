#pragma once

#include <string_view>

/// The files of tools/report, and the chart library, as the build put them into the program.
namespace tools::page {

extern const std::string_view html;
extern const std::string_view style;
extern const std::string_view program;
extern const std::string_view dygraphs; ///< empty: this build draws no charts

} // namespace tools::page
