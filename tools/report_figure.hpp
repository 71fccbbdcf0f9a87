#pragma once

#include "tools/report_input.hpp"

#include <filesystem>
#include <span>
#include <string>

namespace tools {

/// A figure for a paper: what its file's name says, ptm.svg, e.pdf, backlog.png, rate.svg, iteration.svg.
/// Throws generator::UserError for any other name.
void require_figure_name(const std::filesystem::path& path);

/// The gnuplot script that draws it, data included. Pure but for traces, which `rate` reads.
std::string figure_script(const std::filesystem::path& path, const nlohmann::ordered_json& report,
                          std::span<const ReportInput> inputs, const std::filesystem::path& output);

/// Draws it with gnuplot, beside, then renames. Throws std::runtime_error: no gnuplot, or what it said.
void draw_figure(const std::filesystem::path& path, const nlohmann::ordered_json& report,
                 std::span<const ReportInput> inputs);

} // namespace tools
