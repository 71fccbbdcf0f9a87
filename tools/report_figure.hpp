#pragma once

#include "tools/report_input.hpp"

#include <filesystem>
#include <span>
#include <string>

namespace tools {

/// A figure for a paper: what its file's name says, ptm.svg, e.pdf, backlog.png, rate.svg, iteration.svg.
/// Throws generator::UserError for any other name.
void require_figure_name(const std::filesystem::path& path);

/// What gnuplot's `set terminal` says for such a file; empty: it draws none.
std::string_view figure_terminal(const std::filesystem::path& path);

/// What stands in the head of every file of its kind. Throws generator::UserError where there is no terminal.
std::string_view figure_sign(const std::filesystem::path& path);

/// The gnuplot script that writes it to standard output, data included. Pure but for traces, which `rate`
/// reads.
std::string figure_script(const std::filesystem::path& path, const nlohmann::ordered_json& report,
                          std::span<const ReportInput> inputs);

/// Draws what a script says with gnuplot and replaces the file as replace_file does. Throws
/// std::runtime_error: no gnuplot, or it failed.
void draw_script(const std::filesystem::path& path, const std::string& script);

/// Draws what its name says. Throws as draw_script does.
void draw_figure(const std::filesystem::path& path, const nlohmann::ordered_json& report,
                 std::span<const ReportInput> inputs);

} // namespace tools
