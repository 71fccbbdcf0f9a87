#include "generator/field_options.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace generator {
namespace {

using nlohmann::json;

std::string text_value(const std::string& value) {
    return json(value).dump(-1, ' ', false, json::error_handler_t::replace);
}

/// `eth0,eth1` is a list.
std::string list_value(const std::string& value) {
    json list = json::array();
    std::size_t begin = 0;
    for (std::size_t comma = 0; comma != std::string::npos; begin = comma + 1) {
        comma = value.find(',', begin);
        list.push_back(value.substr(begin, comma - begin));
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

} // namespace

void FieldOptions::text(const std::string& option, const std::string& pointer, const std::string& help) {
    add(option, pointer, help, text_value);
}

void FieldOptions::list(const std::string& option, const std::string& pointer, const std::string& help) {
    add(option, pointer, help, list_value);
}

void FieldOptions::number(const std::string& option, const std::string& pointer, const std::string& help) {
    add(option, pointer, help, json_value);
}

void FieldOptions::add(const std::string& option, const std::string& pointer, const std::string& help,
                       ToJson to_json) {
    values_.push_back({std::make_unique<std::optional<std::string>>(), pointer, option, to_json});
    app_.add_option_function<std::string>(
            option, [given = values_.back().given.get()](const std::string& value) { *given = value; }, help)
        ->type_name("");
}

void FieldOptions::flag(const std::string& option, const std::string& pointer, const std::string& help) {
    values_.push_back({std::make_unique<std::optional<std::string>>(), pointer, option, json_value});
    app_.add_flag_callback(
        option, [given = values_.back().given.get()] { *given = "true"; }, help);
}

void FieldOptions::any_field() {
    app_.add_option("--set", *settings_,
                    "Any field of the profile, e.g. --set /gradients/bucketing=per_tensor; may be repeated")
        ->type_name("")
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
    options.number("--iterations", "/run/iterations", "How many iterations");
    options.number("--warmup", "/run/warmup", "First iterations that statistics leave out");
    options.number("--seed", "/run/seed",
                   "For jitter: the same seed gives the same schedule on every machine");
    options.text("--algorithm", "/collective/algorithm",
                 "ring, server, sharded_server, halving_doubling, double_binary_tree or hierarchical");
    options.text("--service", "/collective/service",
                 "Of the server: sequenced (one worker after another) or incast (all at once)");
    options.number("--server-rank", "/collective/server_rank", "Of the server: which rank it is");
    options.number("--channels", "/collective/channels", "Parallel plans that share each bucket");
    options.number("--sockets-per-channel", "/collective/sockets_per_channel",
                   "Connections that share each transfer of a channel");
    options.number("--in-flight", "/collective/in_flight", "Collectives at the same time: NCCL 1, Gloo 2");
    options.number("--scale-bytes", "/scale/bytes", "Multiply all sizes");
    options.number("--scale-time", "/scale/time", "Multiply all times");
    options.any_field();
}

std::optional<std::string> parse_or_show(CLI::App& app, int argument_count, const char* const* arguments) {
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
