#include "generator/field_options.hpp"

#include "collectors/wrapped_text.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace generator {
namespace {

using nlohmann::json;

constexpr std::size_t help_width = 100; ///< columns

std::string text_value(const std::string& value) {
    return json(value).dump(-1, ' ', false, json::error_handler_t::replace);
}

/// `eth0,eth1` is a list, and so is `eth0, eth1`.
std::string list_value(const std::string& value) {
    json list = json::array();
    std::size_t begin = 0;
    for (std::size_t comma = 0; comma != std::string::npos; begin = comma + 1) {
        comma = value.find(',', begin);
        std::string name = value.substr(begin, comma - begin);
        name.erase(0, name.find_first_not_of(' '));
        name.erase(name.find_last_not_of(' ') + 1);
        list.push_back(std::move(name));
    }
    return list.dump(-1, ' ', false, json::error_handler_t::replace);
}

/// JSON stays JSON (a number, true, a list); everything else is text.
std::string json_value(const std::string& value) {
    return json::accept(value) ? value : text_value(value);
}

Override setting(const std::string& text) {
    const std::size_t equals = text.find('=');
    if (!text.starts_with('/') || equals == std::string::npos)
        throw UserError(fmt::format("--set {}: expected /pointer=value, e.g. /compute/time=180ms", text));
    const std::string pointer = text.substr(0, equals);
    return {pointer, json_value(text.substr(equals + 1)), "--set " + pointer};
}

/// CLI11 breaks no lines.
void wrap_help(CLI::App& app) {
    for (CLI::Option* const option : app.get_options())
        option->description(collectors::wrapped(option->get_description(),
                                                help_width - app.get_formatter()->get_column_width()));
    for (CLI::App* const command : app.get_subcommands(nullptr))
        wrap_help(*command);
}

} // namespace

void FieldOptions::text(const std::string& option, const std::string& pointer, const std::string& help) {
    add(option, pointer, help, text_value);
}

void FieldOptions::list(const std::string& option, const std::string& pointer, const std::string& help) {
    add(option, pointer, help, list_value);
}

void FieldOptions::texts(const std::string& option, const std::string& pointer, const std::string& help) {
    const std::size_t blank = option.find(' ');
    const std::string name = option.substr(0, blank);
    values_.push_back({std::make_unique<std::optional<std::string>>(), pointer, name, json_value});
    app_.add_option_function<std::vector<std::string>>(
            name,
            [given = values_.back().given.get()](const std::vector<std::string>& values) {
                *given = json(values).dump(-1, ' ', false, json::error_handler_t::replace);
            },
            help)
        ->type_name(option.substr(blank + 1))
        ->allow_extra_args(false);
}

void FieldOptions::number(const std::string& option, const std::string& pointer, const std::string& help) {
    add(option, pointer, help, json_value);
}

void FieldOptions::add(const std::string& option, const std::string& pointer, const std::string& help,
                       ToJson to_json) {
    const std::size_t blank = option.find(' ');
    const std::string name = option.substr(0, blank);
    values_.push_back({std::make_unique<std::optional<std::string>>(), pointer, name, to_json});
    app_.add_option_function<std::string>(
            name, [given = values_.back().given.get()](const std::string& value) { *given = value; }, help)
        ->type_name(option.substr(blank + 1));
}

void FieldOptions::flag(const std::string& option, const std::string& pointer, const std::string& help,
                        bool value) {
    values_.push_back({std::make_unique<std::optional<std::string>>(), pointer, option, json_value});
    app_.add_flag_callback(
        option, [given = values_.back().given.get(), text = value ? "true" : "false"] { *given = text; },
        help);
}

void FieldOptions::any_field() {
    app_.add_option("--set", *settings_,
                    "Any field of the profile, e.g. --set /gradients/bucketing=per_tensor; may be repeated")
        ->type_name("/FIELD=VALUE")
        ->allow_extra_args(false);
}

std::vector<Override> FieldOptions::overrides() const {
    std::vector<Override> result;
    for (const Value& each : values_)
        if (*each.given)
            result.push_back({each.pointer, each.to_json(**each.given), each.option});
    for (const std::string& each : *settings_)
        result.push_back(setting(each));
    return result;
}

void add_traffic_options(FieldOptions& options) {
    options.number("--iterations N", "/run/iterations", "How many iterations");
    options.number("--warmup N", "/run/warmup", "First iterations that statistics leave out");
    options.number("--seed N", "/run/seed",
                   "For jitter: the same seed gives the same schedule on every machine");
    options.text("--algorithm NAME", "/collective/algorithm",
                 "ring, server, sharded_server, halving_doubling, double_binary_tree or hierarchical");
    options.text("--service NAME", "/collective/service",
                 "Of the server: sequenced (one worker after another) or incast (all at once)");
    options.number("--server-rank RANK", "/collective/server_rank", "Of the server: which rank it is");
    options.number("--channels N", "/collective/channels", "Parallel plans that share each bucket");
    options.number("--sockets-per-channel N", "/collective/sockets_per_channel",
                   "Connections that share each transfer of a channel");
    options.number("--in-flight N", "/collective/in_flight", "Collectives at the same time: NCCL 1, Gloo 2");
    options.number("--scale-bytes FACTOR", "/scale/bytes", "Multiply all sizes");
    options.number("--scale-time FACTOR", "/scale/time", "Multiply all times");
    options.any_field();
}

std::optional<std::string> parse_or_show(CLI::App& app, int argument_count, const char* const* arguments) {
    wrap_help(app);
    try {
        app.parse(argument_count, arguments);
        return std::nullopt;
    } catch (const CLI::CallForHelp&) {
        return app.help();
    } catch (const CLI::CallForVersion&) {
        return app.version() + "\n";
    } catch (const CLI::ParseError& error) {
        throw UserError(fmt::format("{} (see {} --help)", error.what(), app.get_name()));
    }
}

} // namespace generator
