#include "generator/command_line.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <memory>
#include <regex>

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

Exit codes: 0 good; 1 something failed (a peer, the network, a disk); 2 a mistake in profile or options;
130 stopped by a signal. Profiles are explained in profiles/README.md; `gradburst-profile` lists, shows and
checks them, `gradburst-plan` predicts a run, `gradburst-collect` records a NIC without MPI.)";

/// Options that set a profile field. Values go to the profile as text or as JSON numbers; it checks them.
class FieldOptions {
public:
    explicit FieldOptions(CLI::App& app) : app_(app) {}

    void text(const std::string& option, const std::string& pointer, const std::string& help) {
        add(option, pointer, help, [](const std::string& value) { return quoted(value); });
    }
    /// A JSON number stays one; anything else becomes text, which the profile refuses with its reason.
    void number(const std::string& option, const std::string& pointer, const std::string& help) {
        add(option, pointer, help, [](const std::string& value) {
            static const std::regex json_number(R"(-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?)");
            return std::regex_match(value, json_number) ? value : quoted(value);
        });
    }
    void flag(const std::string& option, const std::string& pointer, const std::string& help) {
        flags_.push_back({std::make_unique<bool>(false), pointer, option});
        app_.add_flag(option, *flags_.back().value, help);
    }
    std::vector<Override> overrides() const {
        std::vector<Override> result;
        for (const Value& each : values_)
            if (*each.given)
                result.push_back({each.pointer, each.to_json(*each.value), each.option});
        for (const Flag& each : flags_)
            if (*each.value)
                result.push_back({each.pointer, "true", each.option});
        return result;
    }

private:
    using ToJson = std::string (*)(const std::string&);
    struct Value {
        std::unique_ptr<std::string> value;
        std::unique_ptr<bool> given;
        std::string pointer;
        std::string option;
        ToJson to_json;
    };
    struct Flag {
        std::unique_ptr<bool> value;
        std::string pointer;
        std::string option;
    };

    static std::string quoted(const std::string& value) {
        std::string text = "\"";
        for (const char c : value) {
            if (c == '"' || c == '\\')
                text += '\\';
            text += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
        }
        return text + '"';
    }

    void add(const std::string& option, const std::string& pointer, const std::string& help, ToJson to_json) {
        values_.push_back(
            {std::make_unique<std::string>(), std::make_unique<bool>(false), pointer, option, to_json});
        std::string* const value = values_.back().value.get();
        bool* const given = values_.back().given.get();
        app_.add_option_function<std::string>(
                option,
                [value, given](const std::string& text) {
                    *value = text;
                    *given = true;
                },
                help)
            ->type_name("");
    }

    CLI::App& app_;
    std::vector<Value> values_;
    std::vector<Flag> flags_;
};

void add_field_options(FieldOptions& options) {
    options.number("--iterations", "/run/iterations", "How many iterations");
    options.text("--duration", "/run/duration",
                 "End after the iteration in which this time has passed: 60s, 10min");
    options.number("--warmup", "/run/warmup", "First iterations that statistics leave out");
    options.number("--seed", "/run/seed",
                   "For jitter: the same seed gives the same schedule on every machine");
    options.flag("--verify", "/run/verify", "Carry real float32 sums and check every element (slower)");
    options.flag("--dry-run", "/run/dry_run", "Print settings, bytes, memory and disk; send nothing");
    options.text(
        "--iface", "/network/interfaces",
        "Interface by name (eth0), prefix (eth*) or network (10.0.0.0/8); default: the one by which the "
        "other hosts are reached, lo on one host");
    options.text("--ports", "/network/ports", "Ports to listen on: one per rank of a host, e.g. 20000-20007");
    options.text("--algorithm", "/collective/algorithm",
                 "ring, server, sharded_server, halving_doubling, double_binary_tree or hierarchical");
    options.text("--service", "/collective/service",
                 "Of the server: sequenced (one worker after another) or incast (all at once)");
    options.number("--server-rank", "/collective/server_rank", "Of the server: which rank it is");
    options.number("--channels", "/collective/channels", "Parallel plans that share each bucket");
    options.number("--sockets-per-channel", "/collective/sockets_per_channel",
                   "Connections that share each transfer of a channel");
    options.number("--in-flight", "/collective/in_flight", "Collectives at the same time: NCCL 1, Gloo 2");
    options.text("--congestion-control", "/network/congestion_control",
                 "TCP congestion control of the data connections; default: the kernel's");
    options.text(
        "--line-rate", "/network/line_rate",
        "Rate of the links, where the interface does not know it; scales bytes by line rate / reference "
        "rate of the profile");
    options.number("--scale-bytes", "/scale/bytes", "Multiply all sizes");
    options.number("--scale-time", "/scale/time", "Multiply all times");
    options.text("--interval", "/sampling/interval",
                 "Of the NIC counters: 500us resolves windows from 5 ms on");
    options.text("--out", "/run/out", "Run directory; default: gradburst-<UTC time>");
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
    app.add_flag("--list-profiles", list, "List the profiles and where they are");
    app.set_version_flag("--version", std::string("gradburst ") + GRADBURST_VERSION);
    FieldOptions fields(app);
    add_field_options(fields);
    try {
        app.parse(argument_count, arguments);
    } catch (const CLI::CallForHelp&) {
        return {.action = CommandLine::Action::show_text, .text = app.help()};
    } catch (const CLI::CallForVersion&) {
        return {.action = CommandLine::Action::show_text, .text = app.version() + "\n"};
    } catch (const CLI::ParseError& error) {
        throw UserError(fmt::format("{} (see gradburst --help)", error.what()));
    }
    command.overrides = fields.overrides();
    if (list)
        command.action = CommandLine::Action::list_profiles;
    else if (command.profile.empty())
        throw UserError("which profile? e.g. mpirun -n 4 gradburst resnet50 (see gradburst --list-profiles)");
    return command;
}

} // namespace generator
