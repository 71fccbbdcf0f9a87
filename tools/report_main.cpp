#include "tools/report_charts.hpp"
#include "tools/report_figure.hpp"
#include "tools/report_files.hpp"
#include "tools/report_html.hpp"
#include "tools/report_input.hpp"
#include "tools/report_json.hpp"
#include "tools/report_junit.hpp"
#include "tools/report_text.hpp"
#include "tools/run_program.hpp"
#include "tools/superpose_command.hpp"

#include "generator/field_options.hpp"

#include <chrono>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/chrono.h>
#include <fmt/format.h>

namespace {

namespace fs = std::filesystem;
using generator::UserError;
using Json = nlohmann::ordered_json;

constexpr const char* description =
    "gradburst-report - what runs and traces say: tables, report.json, comparison, verdict\n\n"
    "It reads run directories and sweeps of gradburst, and traces of gradburst-collect. It needs no network "
    "and no MPI.";

constexpr const char* examples =
    "Examples:\n"
    "  gradburst-report run/\n"
    "  gradburst-report run/ --expect 'ptm(5ms) >= 60' --expect 'iteration_p99 <= 1.1*predicted'\n"
    "  gradburst-report --baseline before/ after/\n"
    "  gradburst-report trace.csv --figure ptm.svg\n"
    "  gradburst-report --superpose a.csv b.csv --jobs 8 --rate 100Gbit --buffer 16MB\n"
    "  gradburst-report sweep/ --figure sweep.svg\n\n"
    "Exit codes: 0 done; 1 something failed; 2 a mistake in the command line or in an input; 3 an "
    "expectation was "
    "not met,\n"
    "or could not be judged. The manual page is gradburst-report(1).";

struct Options {
    std::vector<std::string> inputs;
    std::string baseline;
    std::vector<std::string> expectations;
    std::string junit;
    std::vector<std::string> figures;
    std::string out;
    bool json = false;
    bool overwrite = false;
    bool superpose = false;
    tools::SuperposeOptions superposition;
};

/// What only --superpose knows.
void add_superposition_options(CLI::App& app, CLI::Option* superpose, tools::SuperposeOptions& options) {
    const auto add = [&](const std::string& name, auto& value, const std::string& help,
                         const std::string& type) {
        return app.add_option(name, value, help)->needs(superpose)->type_name(type)->group("Superposition");
    };
    add("--jobs", options.jobs, "How many; each trace in turn stands for one. Default: one for each trace",
        "K");
    add("--phases", options.phases, "How many times phases are drawn; default 10000", "N");
    add("--seed", options.seed, "Of the draws: the same seed gives the same result; default 1", "N");
    add("--offsets", options.offsets,
        "In place of random phases: how much later each job begins, e.g. 0,13ms; each period is a draw",
        "TIME,...")
        ->delimiter(',')
        ->allow_extra_args(false);
    add("--rate", options.rate,
        "Of the link that they share, e.g. 100Gbit, in bytes as the traces count them", "RATE");
    add("--buffer", options.buffers, "In front of the link, e.g. 16MB: how likely is a longer queue?",
        "SIZE,...")
        ->delimiter(',')
        ->allow_extra_args(false);
    add("--tau", options.windows, "Windows, e.g. 1ms,5ms; 1 ms to 1 s if not given", "TIME,...")
        ->delimiter(',')
        ->allow_extra_args(false);
    add("--period", options.period,
        "Of the traces; without it from the run's timeline, or by autocorrelation", "TIME");
    add("--cell", options.cell,
        "Of the grid of sums and phases; default: the longest interval of the traces, 100us for predictions",
        "TIME");
    add("--direction", options.direction, "tx or rx of the traces; default tx", "DIRECTION");
    add("--threads", options.threads, "Default: all cores. They do not change the result", "N");
}

void add_options(CLI::App& app, Options& options) {
    app.add_option("run", options.inputs,
                   "Run directories, traces of gradburst-collect, or the directory of a sweep")
        ->required();
    app.add_option("--baseline", options.baseline, "Compare the one run with this one");
    app.add_option("--expect", options.expectations,
                   "What must hold, e.g. 'ptm(5ms) >= 60'; may be repeated; beside what the profile expects")
        ->type_name("'QUANTITY OP LIMIT'")
        ->allow_extra_args(false);
    app.add_option("--junit", options.junit, "Also write the verdict as JUnit XML")->type_name("FILE");
    app.add_option(
           "--figure", options.figures,
           "Also draw ptm, e, backlog, rate or iteration, of a sweep sweep, with gnuplot: ptm.svg, rate.png, "
           "e.pdf; "
           "may be repeated")
        ->type_name("FILE")
        ->allow_extra_args(false);
    app.add_option("--out", options.out,
                   "Folder for report.json and report.html; default: the run's, or the current one for "
                   "traces and several runs")
        ->type_name("FOLDER");
    app.add_flag("--json", options.json, "Print report.json instead of tables, and write no file for it");
    app.add_flag("--overwrite", options.overwrite, "Replace files there that gradburst-report did not write");
    CLI::Option* const superpose =
        app.add_flag("--superpose", options.superpose,
                     "What several jobs like these offer to one link, with random phases: E, PtM, queue, "
                     "superpose.json")
            ->group("Superposition");
    add_superposition_options(app, superpose, options.superposition);
}

int run_superpose(const Options& options) {
    if (!options.expectations.empty() || !options.baseline.empty() || !options.junit.empty())
        throw UserError(
            "--superpose: is no run that can be judged or compared: not with --expect, --junit or "
            "--baseline");
    tools::SuperposeOptions superposition = options.superposition;
    superposition.inputs = options.inputs;
    superposition.figures = options.figures;
    superposition.out = options.out;
    superposition.json = options.json;
    superposition.overwrite = options.overwrite;
    tools::superpose(superposition);
    return generator::success;
}

std::vector<tools::ReportInput> read_inputs(const Options& options) {
    std::vector<tools::ReportInput> inputs;
    if (!options.baseline.empty()) {
        if (options.inputs.size() != 1)
            throw UserError(
                fmt::format("--baseline: is compared with one run, not with {}", options.inputs.size()));
        inputs.push_back(tools::read_input(options.baseline));
    }
    for (const std::string& path : options.inputs)
        inputs.push_back(tools::read_input(path));
    return inputs;
}

tools::ReportSettings settings_of(const Options& options) {
    tools::ReportSettings settings;
    for (const std::string& text : options.expectations)
        try {
            settings.expectations.push_back(generator::parse_expectation(text));
        } catch (const std::invalid_argument& error) {
            throw UserError(fmt::format("--expect {}", error.what()));
        }
    settings.first_is_baseline = !options.baseline.empty();
    settings.created_at = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::chrono::system_clock::now()));
    return settings;
}

fs::path folder_of(const Options& options, const std::vector<tools::ReportInput>& inputs) {
    if (!options.out.empty())
        return options.out;
    return inputs.size() == 1 && inputs[0].kind != tools::ReportInput::Kind::trace ? inputs[0].path
                                                                                   : fs::path(".");
}

/// What a sweep says is a comparison already; its steps are judged one by one.
void require_fit(const Options& options, const std::vector<tools::ReportInput>& inputs) {
    for (const tools::ReportInput& input : inputs) {
        if (input.kind != tools::ReportInput::Kind::sweep)
            continue;
        if (inputs.size() > 1)
            throw UserError(
                fmt::format("{}: is a sweep, which is read alone; name a job's folder in one of its "
                            "steps, such as {}/offset-01/{}",
                            input.name, input.name, input.run["shifted"].get<std::string>()));
        if (!options.expectations.empty() || !options.junit.empty())
            throw UserError(
                fmt::format("{}: is a sweep, which has no single verdict; name a job's folder in one of "
                            "its steps, such as {}/offset-01/{}",
                            input.name, input.name, input.run["shifted"].get<std::string>()));
    }
}

/// Throws UserError if a file that is there would be lost.
void require_free(const Options& options, const std::vector<tools::ReportInput>& inputs) {
    if (options.overwrite)
        return;
    if (!options.json)
        for (const char* const name : {"report.json", "report.html"})
            tools::require_ours(folder_of(options, inputs) / name, "gradburst-report");
    if (!options.junit.empty())
        tools::require_ours(options.junit, "<testsuites name=\"gradburst-report\"");
    for (const std::string& figure : options.figures)
        tools::require_ours(figure, tools::figure_sign(figure));
}

/// Writes what was asked for; returns the names.
std::vector<fs::path> write_files(const Options& options, const std::vector<tools::ReportInput>& inputs,
                                  const Json& report) {
    std::vector<fs::path> written;
    if (!options.json) {
        const fs::path folder = folder_of(options, inputs);
        const bool is_sweep = report.contains("sweep"); // whose page draws what the report says
        const std::span<const tools::ReportInput> drawn(inputs.data(), is_sweep ? 0 : inputs.size());
        fs::create_directories(folder);
        tools::replace_file(folder / "report.json",
                            report.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
        tools::replace_file(folder / "report.html", tools::report_html(report, tools::charts_json(drawn),
                                                                       tools::report_text(report)));
        written.push_back(folder / "report.json");
        written.push_back(folder / "report.html");
    }
    if (!options.junit.empty()) {
        tools::replace_file(options.junit, tools::junit_xml(report));
        written.push_back(options.junit);
    }
    for (const std::string& figure : options.figures) {
        tools::draw_figure(figure, report, inputs);
        written.push_back(figure);
    }
    return written;
}

int exit_code(const Json& report) {
    const std::string result = report["verdict"]["result"];
    return result == "fail" || result == "not_measured" ? generator::not_as_expected : generator::success;
}

int run(int argument_count, char** arguments) {
    CLI::App app{description};
    app.name("gradburst-report");
    app.footer(examples);
    app.set_version_flag("--version", "gradburst-report " GRADBURST_VERSION " (" GRADBURST_BUILD_TYPE ")");
    Options options;
    add_options(app, options);
    if (const auto text = generator::parse_or_show(app, argument_count, arguments)) {
        fmt::print("{}", *text);
        return 0;
    }
    if (options.superpose)
        return run_superpose(options);
    const tools::ReportSettings settings = settings_of(options);
    for (const std::string& figure : options.figures)
        tools::require_figure_name(figure);
    const std::vector<tools::ReportInput> inputs = read_inputs(options);
    require_fit(options, inputs);
    require_free(options, inputs);
    const Json report = tools::report_json(inputs, settings);
    if (options.json)
        collectors::print_safely("{}\n", report.dump(1, ' ', false, Json::error_handler_t::replace));
    else
        collectors::print_safely("{}\n", tools::report_text(report));
    for (const fs::path& path : write_files(options, inputs, report))
        collectors::print_safely(options.json ? stderr : stdout, "wrote {}\n", path.string());
    return exit_code(report);
}

} // namespace

int main(int argument_count, char** arguments) {
    return tools::run_program("gradburst-report", [&] { return run(argument_count, arguments); });
}
