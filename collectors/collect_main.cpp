#include "collectors/commands.hpp"
#include "collectors/interfaces.hpp"

#include <exception>
#include <functional>
#include <stdexcept>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace {

using namespace collectors;

constexpr const char* description =
    "gradburst-collect - record the byte counters of network interfaces and say how bursty their traffic "
    "is\n\n"
    "It reads rx_bytes and tx_bytes of interfaces many times a second, into CSV files with a JSON sidecar "
    "that\n"
    "explains it. From that file `report` computes, for windows of length tau, the most bytes seen in any "
    "window,\n"
    "E(tau), the peak-to-mean ratio PtM(tau), and the queue that the traffic would build up at a slower "
    "link.\n"
    "Each comes as a certain lower bound, an estimate and an upper bound; a window that the samples do not "
    "resolve\n"
    "gets no number. It needs no privileges and serves beside any job, not only beside gradburst.";

constexpr const char* examples =
    "Examples:\n"
    "  gradburst-collect interfaces\n"
    "  gradburst-collect record --iface eth0 --interval 500us --duration 10s --out trace.csv\n"
    "  gradburst-collect record --iface 'eth*' --out trace.csv     (trace.eth0.csv, trace.eth1.csv ...)\n"
    "  gradburst-collect report trace.csv --tau 5ms,50ms --rate 10Gbit\n"
    "  gradburst-collect report trace.csv --from 1s --to 9s --json > report.json\n\n"
    "Exit codes: 0 done; 1 something failed; 2 a mistake in the command line (option, interface, file).\n"
    "The manual page is gradburst-collect(1).";

/// Reads an option with `parse`; a mistake names the option.
template <typename Parse>
auto parsed(const std::string& option, const std::string& text, Parse parse) {
    try {
        return parse(text);
    } catch (const std::invalid_argument& error) {
        throw UsageError(option + ": " + error.what());
    }
}

/// Positive: an interval, a duration, a window.
std::chrono::nanoseconds parsed_length(const std::string& option, const std::string& text) {
    const std::chrono::nanoseconds length = parsed(option, text, parse_duration);
    if (length.count() == 0)
        throw UsageError(option + ": must be greater than 0");
    return length;
}

struct RecordOptions {
    std::vector<std::string> interfaces;
    std::string trace_path;
    std::string source;
    std::string rdma_folder = SourceFolders{}.rdma.string();
    std::string interval = "500us";
    std::string duration;
    bool overwrite = false;
    bool queue = false;
    std::string queue_interval = "5ms";

    RecordSettings settings() const {
        RecordSettings settings;
        settings.interfaces = interfaces;
        settings.trace_path = trace_path;
        if (!source.empty())
            settings.source = parsed("--source", source, parse_source_kind);
        settings.folders.rdma = rdma_folder;
        settings.interval = parsed_length("--interval", interval);
        if (!duration.empty())
            settings.duration = parsed_length("--duration", duration);
        settings.overwrite = overwrite;
        settings.queue = queue;
        settings.queue_interval = parsed_length("--queue-interval", queue_interval);
        return settings;
    }
};

struct ReportOptions {
    std::string trace_path;
    std::vector<std::string> windows;
    std::vector<std::string> rates;
    std::string from;
    std::string to;
    bool json = false;

    ReportSettings settings() const {
        ReportSettings settings;
        settings.trace_path = trace_path;
        for (const std::string& window : windows)
            settings.windows.push_back(parsed_length("--tau", window));
        for (const std::string& rate : rates)
            settings.rates.push_back(parsed("--rate", rate, parse_bit_rate));
        if (!from.empty())
            settings.from = parsed("--from", from, parse_duration);
        if (!to.empty())
            settings.to = parsed("--to", to, parse_duration);
        if (settings.from >= settings.to)
            throw UsageError("--from must be before --to");
        settings.json = json;
        return settings;
    }
};

CLI::App* add_record(CLI::App& app, RecordOptions& options) {
    CLI::App* command =
        app.add_subcommand("record", "Record the counters of an interface into a trace file.");
    command
        ->add_option("--iface", options.interfaces,
                     "interfaces or RDMA ports to watch: names and patterns, e.g. eth0,'ens*',mlx5_0/1; "
                     "`interfaces` lists them")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->required();
    command
        ->add_option("--out", options.trace_path,
                     "CSV file to write; its sidecar gets the extension .json. For several interfaces or a "
                     "pattern one per interface: trace.csv becomes trace.eth0.csv ...")
        ->required();
    command->add_option("--source", options.source,
                        "sysfs, procfs, rtnetlink or rdma; without it the first that works");
    command
        ->add_option("--rdma-folder", options.rdma_folder,
                     "where the kernel shows RDMA ports, if /sys of the host is somewhere else")
        ->capture_default_str();
    command
        ->add_option("--interval", options.interval,
                     "time between samples; resolves windows from 10 times that on")
        ->capture_default_str();
    command->add_option("--duration", options.duration,
                        "how long; without it until SIGINT, SIGTERM or SIGHUP");
    command->add_flag("--overwrite", options.overwrite, "replace an existing trace");
    command->add_flag("--queue", options.queue,
                      "sample backlog and drops of the interface's queue too, into <out>.queue.csv");
    command
        ->add_option("--queue-interval", options.queue_interval,
                     "time between samples of the queue, at least 1ms; a reading costs about 6 us")
        ->capture_default_str();
    return command;
}

CLI::App* add_report(CLI::App& app, ReportOptions& options) {
    CLI::App* command = app.add_subcommand("report", "Say how bursty the traffic in a trace file is.");
    command->add_option("trace", options.trace_path, "CSV file that `record` wrote")->required();
    command->add_option("--tau", options.windows, "windows, e.g. 1ms,5ms; 1 ms to 1 s if not given")
        ->delimiter(',')
        ->allow_extra_args(false);
    command->add_option("--rate", options.rates, "link rates for the backlog, e.g. 1Gbit")
        ->delimiter(',')
        ->allow_extra_args(false);
    command->add_option("--from", options.from,
                        "leave out what came before, e.g. 1s from the start of the trace");
    command->add_option("--to", options.to, "leave out what came after");
    command->add_flag("--json", options.json, "JSON on stdout instead of text");
    return command;
}

int run(int argc, char** argv) {
    CLI::App app{description};
    app.footer(examples);
    app.set_version_flag("--version", "gradburst-collect " GRADBURST_VERSION " (" GRADBURST_BUILD_TYPE ")");
    app.require_subcommand(1);
    RecordOptions record;
    ReportOptions report;
    const CLI::App* record_app = add_record(app, record);
    const CLI::App* report_app = add_report(app, report);
    app.add_subcommand("interfaces",
                       "List the interfaces and RDMA ports of this host with state, speed and driver.");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 2; // --help and --version are no mistakes
    }
    if (record_app->parsed())
        return record_command(record.settings());
    if (report_app->parsed())
        return report_command(report.settings());
    return interfaces_command();
}

} // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const UsageError& error) {
        fmt::print(stderr, "gradburst-collect: {}\n", error.what());
        return 2;
    } catch (const NoInterface& error) {
        fmt::print(stderr, "gradburst-collect: {}\n", error.what());
        return 2;
    } catch (const NoSource& error) {
        fmt::print(stderr, "gradburst-collect: {}\n", error.what());
        return 2;
    } catch (const std::exception& error) {
        fmt::print(stderr, "gradburst-collect: {}\n", error.what());
        return 1;
    }
}
