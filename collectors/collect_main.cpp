#include "collectors/commands.hpp"
#include "collectors/interfaces.hpp"
#include "collectors/parsed_option.hpp"
#include "collectors/printable.hpp"
#include "collectors/trace_file.hpp"
#include "collectors/wrapped_text.hpp"

#include <exception>
#include <functional>
#include <stdexcept>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

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
    "  gradburst-collect report trace.csv --from 1s --to 9s --json > report.json\n"
    "  gradburst-collect record --iface eth0 --interval 100us --out long.bin --prometheus\n"
    "  gradburst-collect export long.bin --out long.csv\n"
    "  gradburst-collect sum trace.eth0.csv trace.eth1.csv --tau 5ms\n\n"
    "Exit codes: 0 done; 1 something failed; 2 a mistake in the command line (option, interface, file).\n"
    "The manual page is gradburst-collect(1).";

/// Positive: an interval, a duration, a window.
std::chrono::nanoseconds parsed_length(const std::string& option, const std::string& text) {
    const std::chrono::nanoseconds length = parsed_option<UsageError>(option, text, parse_duration);
    if (length.count() == 0)
        throw UsageError(option + ": must be greater than 0");
    return length;
}

struct RecordOptions {
    std::vector<std::string> interfaces;
    std::string trace_path;
    std::string source;
    std::string rdma_folder = SourceFolders{}.rdma.string();
    int counter_bits = 64;
    std::string interval = "500us";
    std::string duration;
    std::string format;
    std::optional<std::int64_t> max_samples;
    bool rotate = false;
    CLI::Option* serve = nullptr;
    std::string prometheus; ///< empty: on the usual port of loopback
    bool overwrite = false;
    bool fifo = false;
    std::optional<int> cpu;
    bool no_slow_lane = false;
    bool queue = false;
    std::string queue_interval = "5ms";

    RecordSettings settings() const {
        RecordSettings settings;
        settings.interfaces = interfaces;
        settings.trace_path = trace_path;
        if (!source.empty())
            settings.source = parsed_option<UsageError>("--source", source, parse_source_kind);
        settings.folders.rdma = rdma_folder;
        settings.counters_wrap = counter_bits == 32;
        settings.interval = parsed_length("--interval", interval);
        if (!duration.empty())
            settings.duration = parsed_length("--duration", duration);
        // The name tells every reader which format it is.
        if ((format == "bin" && !is_binary(settings.trace_path)) ||
            (format == "csv" && is_binary(settings.trace_path)))
            throw UsageError(fmt::format("--format {}: {} must end with .{}", format, trace_path, format));
        if (max_samples && *max_samples <= 0)
            throw UsageError("--max-samples: must be greater than 0");
        if (max_samples)
            settings.max_samples = static_cast<std::uint64_t>(*max_samples);
        if (rotate && !max_samples)
            throw UsageError("--rotate: needs --max-samples, the samples in one file");
        settings.rotate = rotate;
        if (serve->count() > 0)
            settings.prometheus = prometheus.empty() ? std::string("127.0.0.1:9464") : prometheus;
        settings.overwrite = overwrite;
        settings.fifo = fifo;
        settings.cpu = cpu;
        settings.slow_lane = !no_slow_lane;
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
            settings.rates.push_back(parsed_option<UsageError>("--rate", rate, parse_bit_rate));
        if (!from.empty())
            settings.from = parsed_option<UsageError>("--from", from, parse_duration);
        if (!to.empty())
            settings.to = parsed_option<UsageError>("--to", to, parse_duration);
        if (settings.from >= settings.to)
            throw UsageError("--from must be before --to");
        settings.json = json;
        return settings;
    }
};

/// Durations that may have a sign.
std::vector<std::chrono::nanoseconds> parsed_offsets(const char* option,
                                                     const std::vector<std::string>& texts) {
    std::vector<std::chrono::nanoseconds> offsets;
    for (const std::string& text : texts) {
        const bool negative = text.starts_with('-');
        const std::chrono::nanoseconds length =
            parsed_option<UsageError>(option, text.substr(negative ? 1 : 0), parse_duration);
        offsets.push_back(negative ? -length : length);
    }
    return offsets;
}

struct SumOptions {
    std::vector<std::string> trace_paths;
    std::vector<std::string> offsets;
    std::vector<std::string> end_offsets;
    std::string offset_error = "0s";
    std::vector<std::string> windows;
    std::vector<std::string> rates;
    bool json = false;

    SumSettings settings() const {
        SumSettings settings;
        settings.trace_paths.assign(trace_paths.begin(), trace_paths.end());
        settings.offsets = parsed_offsets("--offset", offsets);
        settings.end_offsets = parsed_offsets("--offset-end", end_offsets);
        settings.offset_error = parsed_option<UsageError>("--offset-error", offset_error, parse_duration);
        for (const std::string& window : windows)
            settings.windows.push_back(parsed_length("--tau", window));
        for (const std::string& rate : rates)
            settings.rates.push_back(parsed_option<UsageError>("--rate", rate, parse_bit_rate));
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
        ->add_option(
            "--out", options.trace_path,
            "file to write, .csv or .bin (32-byte records); its sidecar gets the extension .json. For "
            "several interfaces or a pattern one per interface: trace.csv becomes trace.eth0.csv ...")
        ->required();
    command->add_option(
        "--source", options.source,
        "sysfs, procfs, rtnetlink or rdma; without it the first that works. ebpf, only when asked for: for "
        "intervals up to 50us; counts tx before the queue; needs root and a build with libbpf");
    command
        ->add_option("--rdma-folder", options.rdma_folder,
                     "where the kernel shows RDMA ports, if /sys of the host is somewhere else")
        ->capture_default_str();
    command
        ->add_option("--counter-bits", options.counter_bits,
                     "32 declares that the counters have 32 bits and begin again at 0, as those of old "
                     "drivers and RDMA ports; of others a fall is always a reset")
        ->check(CLI::IsMember({32, 64}))
        ->capture_default_str();
    command
        ->add_option("--interval", options.interval,
                     "time between samples; resolves windows from 10 times that on")
        ->capture_default_str();
    command->add_option("--duration", options.duration,
                        "how long; without it until SIGINT, SIGTERM or SIGHUP");
    command->add_option("--format", options.format, "csv or bin; the name of the file says it too")
        ->check(CLI::IsMember({"csv", "bin"}));
    command->add_option(
        "--max-samples", options.max_samples,
        "end the recording after that many; with --rotate go on in the next file, <out>.csv.1 ...");
    command->add_flag("--rotate", options.rotate, "see --max-samples; `report <out>.csv` reads all files");
    options.serve =
        command
            ->add_option("--prometheus", options.prometheus,
                         "serve current rates, peak to mean over the last 10 s, missed samples and drops at "
                         "http://ADDR:PORT/metrics meanwhile; on 127.0.0.1:9464 if nothing is given")
            ->expected(0, 1)
            ->type_name("ADDR:PORT");
    command->add_flag("--overwrite", options.overwrite, "replace an existing trace");
    command->add_flag("--fifo", options.fifo,
                      "real-time scheduling (SCHED_FIFO) for the sampler, from an interval of 1ms on; stays "
                      "on time among busy processes");
    command->add_option("--cpu", options.cpu, "the CPU on which the sampler runs; not one of a rank");
    command->add_flag("--no-slow-lane", options.no_slow_lane,
                      "leave out <out>.slow.csv: drops, errors, TCP retransmissions, each 100 ms");
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
    command->add_option("trace", options.trace_path, "file that `record` wrote")->required();
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

CLI::App* add_sum(CLI::App& app, SumOptions& options) {
    CLI::App* command =
        app.add_subcommand("sum", "Say how bursty the traffic of several traces is together.");
    command->add_option("traces", options.trace_paths, "files that `record` wrote at the same time")
        ->required()
        ->expected(2, 10'000);
    command
        ->add_option(
            "--offset", options.offsets,
            "for each trace but the first: what to add to its host's monotonic clock to get that of the "
            "first one's, e.g. --offset=-1.25ms; needed for other hosts")
        ->delimiter(',')
        ->allow_extra_args(false);
    command
        ->add_option(
            "--offset-end", options.end_offsets,
            "the same at the end of each trace, if it drifts; in between it is taken to lie on a line")
        ->delimiter(',')
        ->allow_extra_args(false);
    command->add_option("--offset-error", options.offset_error, "how far off these may be, either way")
        ->capture_default_str();
    command->add_option("--tau", options.windows, "see report")->delimiter(',')->allow_extra_args(false);
    command->add_option("--rate", options.rates, "see report")->delimiter(',')->allow_extra_args(false);
    command->add_flag("--json", options.json, "JSON on stdout instead of text");
    return command;
}

/// CLI11 breaks no lines.
void wrap_help(CLI::App& app) {
    constexpr std::size_t help_width = 100; // columns
    for (CLI::Option* const option : app.get_options())
        option->description(collectors::wrapped(option->get_description(),
                                                help_width - app.get_formatter()->get_column_width()));
}

CLI::App* add_export(CLI::App& app, ExportSettings& settings) {
    CLI::App* command =
        app.add_subcommand("export", "Write a trace in the other format: binary as CSV, or back.");
    command->add_option("trace", settings.trace_path, "file that `record` wrote")->required();
    command->add_option("--out", settings.out, "file to write, .csv or .bin")->required();
    command->add_flag("--overwrite", settings.overwrite, "replace an existing file");
    return command;
}

/// CLI11 asks for a command and does not say that it got another word.
void name_unknown_command(const CLI::App& app) {
    const std::vector<std::string> words = app.remaining();
    if (words.empty() || !app.get_subcommands().empty())
        return;
    std::vector<std::string> names;
    for (const CLI::App* const command : app.get_subcommands(nullptr))
        names.push_back(command->get_name());
    throw UsageError(
        fmt::format("no command '{}'; the commands are {}", words.front(), fmt::join(names, ", ")));
}

int run(int argc, char** argv) {
    CLI::App app{description};
    app.name("gradburst-collect");
    app.footer(examples);
    app.set_version_flag("--version", "gradburst-collect " GRADBURST_VERSION " (" GRADBURST_BUILD_TYPE ")");
    app.require_subcommand(1);
    RecordOptions record;
    ReportOptions report;
    const CLI::App* record_app = add_record(app, record);
    const CLI::App* report_app = add_report(app, report);
    app.add_subcommand("interfaces",
                       "List the interfaces and RDMA ports of this host with state, speed and driver.");
    SumOptions sum;
    const CLI::App* sum_app = add_sum(app, sum);
    ExportSettings exported;
    const CLI::App* export_app = add_export(app, exported);
    for (CLI::App* const command : app.get_subcommands(nullptr))
        wrap_help(*command);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        name_unknown_command(app);
        return app.exit(error) == 0 ? 0 : 2; // --help and --version are no mistakes
    }
    if (record_app->parsed())
        return record_command(record.settings());
    if (report_app->parsed())
        return report_command(report.settings());
    if (sum_app->parsed())
        return sum_command(sum.settings());
    if (export_app->parsed())
        return export_command(exported);
    return interfaces_command();
}

} // namespace

int main(int argc, char** argv) {
    try {
        const int code = run(argc, argv);
        collectors::flush_output();
        return code;
    } catch (const UsageError& error) {
        collectors::print_safely(stderr, "gradburst-collect: {}\n", error.what());
        return 2;
    } catch (const NoInterface& error) {
        collectors::print_safely(stderr, "gradburst-collect: {}\n", error.what());
        return 2;
    } catch (const NoSource& error) {
        collectors::print_safely(stderr, "gradburst-collect: {}\n", error.what());
        return 2;
    } catch (const std::exception& error) {
        collectors::print_safely(stderr, "gradburst-collect: {}\n", error.what());
        return 1;
    }
}
