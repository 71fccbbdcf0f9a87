#include "tools/report_input.hpp"
#include "tools/run_program.hpp"

#include "generator/field_options.hpp"

#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace {

constexpr const char* description =
    "gradburst-report - what runs and traces say: tables, report.json, report.html, comparison, verdict\n\n"
    "It reads run directories of gradburst and traces of gradburst-collect. It needs no network and no MPI.";

constexpr const char* examples =
    "Examples:\n"
    "  gradburst-report run/\n"
    "  gradburst-report run/ --expect 'ptm(5ms) >= 60' --expect 'iteration_p99 <= 1.1*predicted'\n"
    "  gradburst-report --baseline before/ after/\n"
    "  gradburst-report trace.csv --figure ptm.svg\n\n"
    "Exit codes: 0 done; 1 something failed; 2 a mistake in the command line or in an input; 3 an "
    "expectation "
    "was not\n"
    "met, or could not be judged. The manual page is gradburst-report(1).";

struct Options {
    std::vector<std::string> inputs;
};

int run(int argument_count, char** arguments) {
    CLI::App app{description};
    app.name("gradburst-report");
    app.footer(examples);
    app.set_version_flag("--version", "gradburst-report " GRADBURST_VERSION " (" GRADBURST_BUILD_TYPE ")");
    Options options;
    app.add_option("run", options.inputs, "Run directories, or traces")->required();
    if (const auto text = generator::parse_or_show(app, argument_count, arguments)) {
        fmt::print("{}", *text);
        return 0;
    }
    std::vector<tools::ReportInput> inputs;
    for (const std::string& path : options.inputs)
        inputs.push_back(tools::read_input(path));
    return 0;
}

} // namespace

int main(int argument_count, char** arguments) {
    return tools::run_program("gradburst-report", [&] { return run(argument_count, arguments); });
}
