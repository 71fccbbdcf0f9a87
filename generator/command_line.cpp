#include "generator/command_line.hpp"

#include "generator/field_options.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace generator {
namespace {

constexpr const char* description =
    R"(gradburst - put the network traffic of distributed training on a real network, and measure how bursty it is

Started by mpirun or srun, one process per rank. Each rank waits until a bucket of gradients is due, as a training job
would, and all-reduces it with the others over TCP. Rank 0 prints the result; the run directory keeps everything.)";

constexpr const char* closing =
    R"(Examples:
  mpirun -n 4 gradburst resnet50 --iterations 20 --out run/
      ResNet-50 on this machine: one burst a second over loopback.
  mpirun --hostfile hosts --map-by node --bind-to none gradburst resnet50-ddp --iface eth2 --duration 60s
      Five overlapped buckets an iteration for a minute, on the network of eth2.
  mpirun -n 4 gradburst my.json --line-rate 25Gbit --ports 20000-20003
      An own profile, scaled to a 25 Gbit/s link, through a firewall with four open ports.
  mpirun -n 4 gradburst resnet50 --dry-run
      Show the effective settings, the bytes of a run and what it takes; send nothing.

An option sets a field of the profile. Without it the profile's value holds, and without one there the default
of profiles/README.md; the settings that a run prints say what holds. TIME is 500us, 112ms, 60s, 10min; RATE is
10Mbit, 2.5Gbit, 100Gbit.

Exit codes: 0 good; 1 something failed (a peer, the network, a disk); 2 a mistake in profile or options;
3 an expectation was not met, or could not be judged; 130 stopped by a signal. Profiles are explained in profiles/README.md; `gradburst-profile` lists, shows and
checks them, `gradburst-plan` predicts a run, `gradburst-report` tells of runs that are over, `gradburst-collect`
records a NIC without MPI.)";

void add_field_options(FieldOptions& options) {
    add_traffic_options(options);
    options.text("--line-rate RATE", "/network/line_rate",
                 "Rate of the links, where the interface does not know it; scales bytes by line rate / "
                 "reference rate of the profile");
    options.text("--duration TIME", "/run/duration",
                 "End after the iteration in which this time has passed: 60s, 10min");
    options.flag("--verify", "/run/verify", "Carry real float32 sums and check every element (slower)");
    options.flag("--dry-run", "/run/dry_run", "Print settings, bytes, memory and disk; send nothing");
    options.list(
        "--iface NAMES", "/network/interfaces",
        "Interface by name (eth0), prefix (eth*) or network (10.0.0.0/8), or a list, of which each host "
        "takes the first that it has: eth2,ens1; default: the one by which the other hosts are reached, "
        "lo on one host");
    options.text("--ports PORT-PORT", "/network/ports",
                 "Ports to listen on: one per rank of a host, e.g. 20000-20007");
    options.text("--congestion-control NAME", "/network/congestion_control",
                 "TCP congestion control of the data connections; default: the kernel's");
    options.number("--dscp NUMBER", "/network/dscp",
                   "DSCP of the data connections, 0 to 63: 46 is expedited forwarding");
    options.text("--pacing-rate RATE", "/network/pacing_rate",
                 "At most so much on each data connection, by TCP's own pacing");
    options.text("--interval TIME", "/sampling/interval",
                 "Of the NIC counters: 500us resolves windows from 5 ms on");
    options.flag("--no-tcp-info", "/sampling/tcp_info",
                 "Do not ask the kernel of each connection at the end of each bucket (tcp.csv)", false);
    options.texts("--expect 'QUANTITY OP LIMIT'", "/expect",
                  "What must hold, in place of what the profile expects, e.g. 'ptm(5ms) >= 60': verdict "
                  "and exit code; may be repeated");
    options.text("--out FOLDER", "/run/out", "Run directory; default: gradburst-<UTC time>");
    options.flag("--overwrite", "/run/overwrite", "Replace a run that is in --out");
    options.flag("--json", "/run/json", "Print run.json, or the dry run as JSON, instead of text");
}

std::string joined(int argument_count, const char* const* arguments) {
    std::string text;
    for (int i = 0; i < argument_count; ++i)
        text += fmt::format("{}{}", i == 0 ? "" : " ", arguments[i]);
    return text;
}

} // namespace

CommandLine parse_command_line(int argument_count, const char* const* arguments) {
    CommandLine command;
    command.whole = joined(argument_count, arguments);
    CLI::App app(description);
    app.name("gradburst");
    app.footer(closing);
    app.get_formatter()->column_width(26);
    bool list = false;
    app.add_option("profile", command.profile, "Name of a profile, or path of a JSON file")->type_name("");
    app.add_option("--jobs", command.jobs,
                   "Run several jobs at the same time, each on ranks of its own, from a jobs file; see "
                   "profiles/README.md. Options then hold for every job")
        ->type_name("FILE");
    app.add_option(
           "--sweep-offset", command.sweep,
           "With --jobs: run each job alone, then all together at COUNT offsets of one job's start (of "
           "the last, unless JOB= names another), FROM and TO included, and compare: 0..T:9, "
           "b=0..250ms:6; T is the period of the job that is not shifted")
        ->type_name("[JOB=]FROM..TO:COUNT");
    app.add_option("--start-at", command.start_at,
                   "Begin at this time of rank 0's wall clock, so that separate launches meet: "
                   "2026-12-02T23:59:00Z, or seconds since 1970")
        ->type_name("TIME");
    app.add_flag("--list-profiles", list, "List the profiles and where they are");
    app.set_version_flag("--version", std::string("gradburst ") + GRADBURST_VERSION);
    FieldOptions fields(app);
    add_field_options(fields);
    if (const auto text = parse_or_show(app, argument_count, arguments))
        return {.action = CommandLine::Action::show_text, .text = *text};
    command.overrides = fields.overrides();
    if (list)
        command.action = CommandLine::Action::list_profiles;
    else if (!command.profile.empty() && !command.jobs.empty())
        throw UserError(fmt::format("--jobs {}: names the profiles; \"{}\" is one too many", command.jobs,
                                    command.profile));
    else if (!command.sweep.empty() && command.jobs.empty())
        throw UserError(fmt::format(
            "--sweep-offset {}: shifts one of the jobs of a jobs file; give --jobs FILE", command.sweep));
    else if (!command.sweep.empty() && !command.start_at.empty())
        throw UserError(
            "--sweep-offset: not together with --start-at; each step begins when the one before is over");
    else if (command.profile.empty() && command.jobs.empty())
        throw UserError("which profile? e.g. mpirun -n 4 gradburst resnet50 (see gradburst --list-profiles)");
    return command;
}

} // namespace generator
