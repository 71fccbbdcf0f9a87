#include "tools/report_figure.hpp"

#include "tools/input_failure.hpp"
#include "tools/report_sections.hpp"

#include "collectors/period.hpp"
#include "generator/failure.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <optional>
#include <sstream>

#include <fmt/format.h>

namespace tools {
namespace {

using Json = nlohmann::ordered_json;
using generator::UserError;

constexpr std::array<std::string_view, 6> figure_names{"ptm", "e", "backlog", "rate", "iteration", "sweep"};
constexpr std::size_t most_series = 16; ///< more cannot be told apart
constexpr std::size_t most_columns =
    2000; ///< of a curve over time: each is drawn from its least to its largest

struct Terminal {
    std::string_view extension;
    std::string_view command;
    std::string_view sign; ///< stands in the head of such a file
};

constexpr std::array<Terminal, 3> terminals{
    {{".svg", "svg size 800,500 dynamic enhanced font 'sans,13' background 'white'", "<svg"},
     {".png", "pngcairo size 1600,1000 enhanced font 'sans,22' linewidth 2", "PNG"},
     {".pdf", "pdfcairo size 16cm,10cm enhanced font 'sans,11'", "%PDF"}}};

/// nullptr: no such figures are drawn.
const Terminal* terminal_of(const std::filesystem::path& path) {
    for (const Terminal& each : terminals)
        if (each.extension == path.extension().string())
            return &each;
    return nullptr;
}

/// Data of a figure, as blocks that the plot command names.
struct Series {
    std::string title;
    std::string rows;
};

/// Between single quotes: in double ones gnuplot would run what stands in backquotes.
std::string quoted(const std::string& text) {
    std::string result = "'";
    for (const char c : text)
        if (c == '\'')
            result += "\u2019"; // gnuplot cannot begin a text with the other one
        else if (static_cast<unsigned char>(c) >= ' ')
            result += c;
    return result + "'";
}

std::string title_of(const Json& run, const Json& interface) {
    std::string title = fmt::format("{}.{} {}", interface.value("host", ""), interface.value("interface", ""),
                                    interface.value("direction", ""));
    if (run["role"] == "baseline")
        title += " (baseline)";
    return title;
}

/// What each interface sent: a row for each point that has all the numbers.
std::vector<Series> interface_series(const Json& report, const std::string& list,
                                     const std::vector<std::string>& keys) {
    std::vector<Series> all;
    for (const Json& run : report["runs"])
        for (const Json& interface : run["interfaces"]) {
            if (interface.value("direction", "") != "tx")
                continue;
            Series series{title_of(run, interface), ""};
            for (const Json& point : interface[list]) {
                std::string row;
                for (const std::string& key : keys)
                    if (const auto value = number_in(point, key))
                        row += fmt::format("{:.9g} ", *value);
                    else
                        row += key.find("predicted") == std::string::npos ? "missing" : "NaN ";
                if (row.find("missing") == std::string::npos)
                    series.rows += row + "\n";
            }
            if (!series.rows.empty() && all.size() < most_series)
                all.push_back(std::move(series));
        }
    return all;
}

std::vector<Series> iteration_series(const Json& report) {
    std::vector<Series> all;
    for (const Json& run : report["runs"]) {
        std::vector<double> values = section_in(run, "/iterations/values").is_array()
                                         ? run["iterations"]["values"].get<std::vector<double>>()
                                         : std::vector<double>{};
        std::sort(values.begin(), values.end());
        Series series{run.value("name", ""), ""};
        for (std::size_t i = 0; i < values.size(); ++i)
            series.rows += fmt::format("{:.9g} {:.6g}\n", 1e3 * values[i],
                                       static_cast<double>(i + 1) / static_cast<double>(values.size()));
        if (!series.rows.empty() && all.size() < most_series)
            all.push_back(std::move(series));
    }
    return all;
}

/// Columns of equal width over the trace: time, least and largest rate of its cells, in Gbit/s.
std::string rate_rows(const TraceSource& trace, collectors::Direction direction) {
    collectors::ActivitySeries series(std::chrono::milliseconds(1));
    std::optional<std::int64_t> begin_ns;
    collectors::for_each_block(trace.path, [&](std::span<const collectors::Sample> samples) {
        std::vector<collectors::Reading> readings;
        for (const collectors::Sample& sample : samples)
            readings.push_back(collectors::reading_of(sample, direction));
        if (!begin_ns && !samples.empty())
            begin_ns = samples.front().t_ns;
        series.add(readings);
    });
    const double cell = collectors::in_seconds(series.cell());
    const auto cells = series.bytes();
    const std::size_t width = (cells.size() + most_columns - 1) / most_columns;
    std::string rows;
    for (std::size_t i = 0; i < cells.size(); i += width) {
        double least = 1e300;
        double most = -1;
        for (std::size_t j = i; j < std::min(i + width, cells.size()); ++j)
            if (cells[j]) {
                least = std::min(least, *cells[j]);
                most = std::max(most, *cells[j]);
            }
        const double time = 1e-9 * static_cast<double>(begin_ns.value_or(0) + trace.offset_ns) +
                            cell * static_cast<double>(i);
        rows += most < 0
                    ? "\n" // nobody knows: a break
                    : fmt::format("{:.6f} {:.6g} {:.6g}\n", time, 8e-9 * least / cell, 8e-9 * most / cell);
    }
    return rows;
}

std::vector<Series> rate_series(std::span<const ReportInput> inputs) {
    std::vector<Series> all;
    for (const ReportInput& input : inputs)
        for (const TraceSource& trace : input.traces)
            if (!trace.is_switch_port && all.size() < most_series)
                all.push_back({fmt::format("{}.{}", trace.info.host, trace.info.interface),
                               using_input(input, [&](const ReportInput&) {
                                   return rate_rows(trace, collectors::Direction::tx);
                               })});
    return all;
}

/// What a figure's axes say, and how each series is drawn; `{}` stands for the number of the series.
struct Style {
    std::string_view settings;
    std::string_view plot;
    std::string_view prediction;   ///< a second plot of the series, dashed; empty: none
    double x_scale = 1;            ///< from the first column to the x axis
    std::optional<double> y_scale; ///< from the other columns to the y axis; nullopt: its range is set
};

Style style_of(std::string_view name) {
    if (name == "ptm")
        return {"set logscale xy\nset xlabel 'time scale tau [ms]'\nset ylabel 'peak to mean of what was "
                "sent, PtM(tau)'\n"
                "set label 1 '60:1 at 5 ms' at 5,60 point pt 2 ps 1.5 offset 1.5,0\n",
                "$data{0} using ($1*1e3):2:4 with filledcurves lc {0} fs transparent solid 0.25 notitle, "
                "$data{0} using ($1*1e3):3 with linespoints lc {0} pt 7 ps 0.4",
                "$data{0} using ($1*1e3):5 with lines lc {0} dt 2 notitle", 1e3, 1};
    if (name == "e")
        return {"set logscale xy\nset xlabel 'time scale tau [ms]'\nset ylabel 'E(tau), most bytes in a "
                "window [MB]'\n",
                "$data{0} using ($1*1e3):($2/1e6):($4/1e6) with filledcurves lc {0} fs transparent solid "
                "0.25 notitle, "
                "$data{0} using ($1*1e3):($3/1e6) with linespoints lc {0} pt 7 ps 0.4",
                "", 1e3, 1e-6};
    if (name == "backlog")
        return {"set xlabel 'link rate r [Gbit/s]'\nset ylabel 'largest queue, B_{max}(r) [MB]'\nset yrange "
                "[0:*]\n",
                "$data{0} using ($1/1e9):($3/1e6) with linespoints lc {0} pt 7 ps 0.4",
                "$data{0} using ($1/1e9):($4/1e6) with lines lc {0} dt 2 notitle", 1e-9, 1e-6};
    if (name == "sweep")
        return {
            "set xlabel 'offset of the shifted job [ms]'\nset ylabel 'iteration time against the job alone'\n"
            "set yrange [0:*]\n",
            "$data{0} using ($1*1e3):2 with linespoints lc {0} pt 7 ps 0.6", "", 1e3, std::nullopt};
    if (name == "rate")
        return {
            "set xlabel 'time since the start [s]'\nset ylabel 'rate, least to largest of 1 ms [Gbit/s]'\n"
            "set yrange [0:*]\n",
            "$data{0} using 1:2:3 with filledcurves lc {0} fs transparent solid 0.4 notitle, "
            "$data{0} using 1:3 with lines lc {0}",
            "", 1, 1};
    return {"set xlabel 'iteration time [ms]'\nset ylabel 'share of iterations'\nset yrange [0:1]\n",
            "$data{0} using 1:2 with steps lc {0} lw 2", "", 1, std::nullopt};
}

/// One for each job: asked offset, interference factor.
std::vector<Series> sweep_series(const Json& sweep) {
    std::vector<Series> all;
    for (const Json& step : sweep["steps"])
        for (const Json& job : step["jobs"]) {
            const auto offset = number_in(step, "/offset_seconds/asked");
            const auto factor = number_in(job, "/interference");
            if (!offset || !factor)
                continue;
            const std::string title = "job " + job["name"].get<std::string>();
            auto series =
                std::find_if(all.begin(), all.end(), [&](const Series& each) { return each.title == title; });
            if (series == all.end() && all.size() == most_series)
                continue;
            if (series == all.end())
                series = all.insert(all.end(), Series{title, ""});
            series->rows += fmt::format("{:.9g} {:.6g}\n", *offset, *factor);
        }
    return all;
}

std::vector<Series> series_of(std::string_view name, const Json& report,
                              std::span<const ReportInput> inputs) {
    if (name == "ptm")
        return interface_series(
            report, "burstiness",
            {"/tau_seconds", "/ptm_lower", "/ptm_estimate", "/ptm_upper", "/ptm_predicted"});
    if (name == "e")
        return interface_series(report, "burstiness",
                                {"/tau_seconds", "/e_lower_bytes", "/e_estimate_bytes", "/e_upper_bytes"});
    if (name == "backlog")
        return interface_series(
            report, "backlog",
            {"/rate_bits_per_second", "/lower_bytes", "/estimate_bytes", "/predicted_bytes"});
    return name == "rate" ? rate_series(inputs) : iteration_series(report);
}

/// "set xrange [90:110]" where all values are 100: gnuplot complains of a range that it has to make up.
/// Empty where values differ.
std::string range_text(std::string_view axis, const std::vector<double>& values, double scale) {
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    if (values.empty() || *most - *least > 1e-9 * std::abs(*most))
        return "";
    const double value = scale * *least;
    return value == 0 ? fmt::format("set {}range [0:1]\n", axis)
                      : fmt::format("set {}range [{:.9g}:{:.9g}]\n", axis, 0.9 * value, 1.1 * value);
}

std::string equal_ranges(const std::vector<Series>& series, const Style& style) {
    std::vector<double> x;
    std::vector<double> y;
    for (const Series& each : series) {
        std::istringstream lines(each.rows);
        for (std::string line; std::getline(lines, line);) {
            std::istringstream numbers(line);
            double value = 0;
            for (std::size_t column = 0; numbers >> value; ++column) // up to "NaN"
                (column == 0 ? x : y).push_back(value);
        }
    }
    return range_text("x", x, style.x_scale) + (style.y_scale ? range_text("y", y, *style.y_scale) : "");
}

/// gnuplot refuses to plot a column of which it can read nothing.
bool has_prediction(const Series& series) {
    return series.rows.find("NaN") == std::string::npos;
}

} // namespace

void require_figure_name(const std::filesystem::path& path) {
    const std::string name = path.stem().string();
    const bool named = std::find(figure_names.begin(), figure_names.end(), name) != figure_names.end();
    if (!named || terminal_of(path) == nullptr)
        throw UserError(fmt::format(
            "--figure {}: the file's name says what is drawn: ptm, e, backlog, rate or iteration, or "
            "sweep of a sweep, with .svg, .png or .pdf",
            path.string()));
}

std::string_view figure_terminal(const std::filesystem::path& path) {
    const Terminal* const terminal = terminal_of(path);
    return terminal == nullptr ? "" : terminal->command;
}

std::string_view figure_sign(const std::filesystem::path& path) {
    const Terminal* const terminal = terminal_of(path);
    if (terminal == nullptr)
        throw UserError(fmt::format("--figure {}: must be .svg, .png or .pdf", path.string()));
    return terminal->sign;
}

std::string figure_script(const std::filesystem::path& path, const Json& report,
                          std::span<const ReportInput> inputs) {
    require_figure_name(path);
    const std::string name = path.stem().string();
    if (report.contains("sweep") != (name == "sweep"))
        throw UserError(fmt::format("--figure {}: {}", path.string(),
                                    name == "sweep" ? "this is no sweep"
                                                    : "this is a sweep, of which only sweep is drawn"));
    const std::vector<Series> series =
        name == "sweep" ? sweep_series(report["sweep"]) : series_of(name, report, inputs);
    if (series.empty())
        throw UserError(fmt::format("--figure {}: nothing of that was measured", path.string()));
    const Style style = style_of(name);
    std::string script;
    std::vector<std::string> plots;
    for (std::size_t i = 0; i < series.size(); ++i) {
        script += fmt::format("$data{} << EOD\n{}EOD\n", i + 1, series[i].rows);
        plots.push_back(fmt::format(fmt::runtime(style.plot), i + 1) + " title " + quoted(series[i].title));
        if (!style.prediction.empty() && has_prediction(series[i]))
            plots.push_back(fmt::format(fmt::runtime(style.prediction), i + 1));
    }
    script += fmt::format("set terminal {}\nset grid\nset key outside below noenhanced\n{}{}plot ",
                          terminal_of(path)->command, style.settings, equal_ranges(series, style));
    for (std::size_t i = 0; i < plots.size(); ++i)
        script += (i == 0 ? "" : ", \\\n     ") + plots[i];
    return script + "\n";
}

} // namespace tools
