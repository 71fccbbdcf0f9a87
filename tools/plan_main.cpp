#include "collectors/parsed_option.hpp"
#include "collectors/printable.hpp"
#include "collectors/trace_file.hpp"
#include "generator/field_options.hpp"
#include "generator/free_space.hpp"
#include "tools/plan_report.hpp"
#include "tools/run_program.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace {

using namespace generator;

constexpr const char* description =
    "gradburst-plan - say what a profile would send and how bursty it would be, without sending it\n\n"
    "It counts bytes, transfers, connections and ports in the plans that gradburst would execute, and runs "
    "these\n"
    "plans in a fluid model of the network: iteration time, peak to mean per window, queues, bandwidth. It "
    "needs\n"
    "no network, no MPI and no privileges.";

constexpr const char* examples =
    "Examples:\n"
    "  gradburst-plan resnet50 --ranks 4 --line-rate 100Gbit\n"
    "  gradburst-plan resnet50-ddp --ranks 8 --line-rate 25Gbit --mtu 9000 --tau 1ms,5ms --rate 10Gbit\n"
    "  gradburst-plan my.json --ranks 16 --ranks-per-host 8 --line-rate 1Gbit --json > plan.json\n"
    "  gradburst-plan resnet50 --ranks 1024 --line-rate 100Gbit --hosts-per-leaf 32 --oversubscription 1\n"
    "  gradburst-plan smoke --ranks 4 --line-rate 1Gbit --trace plan.csv\n"
    "  gradburst-collect report plan.csv\n\n"
    "Exit codes: 0 done; 1 something failed; 2 a mistake in the profile or the command line.\n"
    "The manual page is gradburst-plan(1).";

struct Options {
    std::string profile;
    tools::PlanSettings settings;
    std::string step_latency = "30us";
    std::vector<std::string> windows;
    std::vector<std::string> rates;
    std::string trace_path;
    bool json = false;
};

void add_options(CLI::App& app, Options& options) {
    app.add_option("profile", options.profile, "Name of a profile, or path of a JSON file")->required();
    app.add_option("--ranks", options.settings.ranks, "How many ranks")->required();
    app.add_option("--ranks-per-host", options.settings.ranks_per_host, "Ranks that share one NIC")
        ->capture_default_str();
    app.add_option("--hosts-per-leaf", options.settings.hosts_per_leaf,
                   "Hosts on each leaf switch below a spine; 0: one switch for all")
        ->capture_default_str();
    app.add_option("--oversubscription", options.settings.oversubscription,
                   "Each leaf's uplink carries hosts x line rate / this")
        ->capture_default_str();
    app.add_option("--mtu", options.settings.mtu, "Bytes of an IP packet, for the share of headers")
        ->capture_default_str();
    app.add_flag("--ideal", options.settings.ideal, "No headers: the whole line rate is payload");
    app.add_option("--step-latency", options.step_latency,
                   "From the last byte of a transfer until what depends on it goes")
        ->capture_default_str();
    app.add_option("--tau", options.windows, "Windows, e.g. 1ms,5ms; 1 ms to 1 s if not given")
        ->delimiter(',')
        ->allow_extra_args(false);
    app.add_option("--rate", options.rates, "More link rates for the backlog, e.g. 10Gbit")
        ->delimiter(',')
        ->allow_extra_args(false);
    app.add_flag("--json", options.json, "JSON on stdout instead of text");
    app.add_option("--trace", options.trace_path, "Writes the predicted trace of host 0 to this CSV file");
}

void complete_settings(Options& options) {
    tools::PlanSettings& settings = options.settings;
    settings.step_latency = collectors::parsed_option<UserError>("--step-latency", options.step_latency,
                                                                 collectors::parse_duration);
    for (const std::string& window : options.windows)
        settings.windows.push_back(
            collectors::parsed_option<UserError>("--tau", window, collectors::parse_duration));
    for (const nanoseconds window : settings.windows)
        if (window.count() == 0)
            throw UserError("--tau: must be greater than 0");
    if (settings.windows.empty())
        settings.windows.assign(collectors::standard_windows().begin(), collectors::standard_windows().end());
    for (const std::string& rate : options.rates)
        settings.rates.push_back(
            collectors::parsed_option<UserError>("--rate", rate, collectors::parse_bit_rate));
}

int run(int argument_count, char** arguments) {
    CLI::App app{description};
    app.name("gradburst-plan");
    app.footer(examples);
    app.set_version_flag("--version", "gradburst-plan " GRADBURST_VERSION " (" GRADBURST_BUILD_TYPE ")");
    Options options;
    add_options(app, options);
    FieldOptions fields(app);
    fields.text("--line-rate RATE", "/network/line_rate",
                "Rate of each NIC, e.g. 100Gbit; required unless the profile sets network.line_rate");
    add_traffic_options(fields);
    if (const auto text = parse_or_show(app, argument_count, arguments)) {
        collectors::print_safely("{}", *text);
        return 0;
    }
    complete_settings(options);
    const ProfileSource source = load_profile(options.profile, profile_folders());
    const Profile profile = parse_profile(source, fields.overrides());
    options.settings.profile_file = source.name;
    const tools::PlanReport report = tools::make_report(profile, options.settings);
    if (!options.trace_path.empty())
        collectors::write_trace(options.trace_path, report.trace);
    const FreeSpace free{free_memory(), free_disk(profile.run.out.empty() ? "." : profile.run.out)};
    collectors::print_safely("{}",
                             options.json ? tools::report_json(report) : tools::report_text(report, free));
    return 0;
}

} // namespace

int main(int argument_count, char** arguments) {
    return tools::run_program("gradburst-plan", [&] { return run(argument_count, arguments); });
}
