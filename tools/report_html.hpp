#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace tools {

/// One file that opens offline: style, programs, report and chart data are inside, and nothing is fetched.
/// All numbers on the page are made of `report` by the page itself. `text` is what is shown where there is no
/// JavaScript.
std::string report_html(const nlohmann::ordered_json& report, const nlohmann::ordered_json& charts,
                        std::string_view text = {});

} // namespace tools
