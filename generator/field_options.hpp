#pragma once

#include "generator/profile.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace generator {

/// Options of a command line that set profile fields. Values go to the profile as JSON; it checks them, and
/// names the option in what it says.
class FieldOptions {
public:
    /// `app` must outlive this.
    explicit FieldOptions(CLI::App& app) : app_(app) {}

    /// An option is given as help shows it: "--duration TIME". The value is text for the profile, whatever it
    /// looks like: 60s, 100Gbit, 20000-20007.
    void text(const std::string& option, const std::string& pointer, const std::string& help);
    /// The value is a list of texts, separated by commas.
    void list(const std::string& option, const std::string& pointer, const std::string& help);
    /// May be repeated: the values are a list of texts, which may contain commas.
    void texts(const std::string& option, const std::string& pointer, const std::string& help);
    /// The value should be a number; anything else goes on as it is, and the profile refuses it.
    void number(const std::string& option, const std::string& pointer, const std::string& help);
    /// Given, it sets the field to `value`.
    void flag(const std::string& option, const std::string& pointer, const std::string& help,
              bool value = true);
    /// --set /pointer=value, for the fields that have no option of their own; may be repeated.
    void any_field();

    /// What was given, in the order of the options above; --set at the end. Throws UserError for a --set that
    /// is not /pointer=value.
    std::vector<Override> overrides() const;

private:
    using ToJson = std::string (*)(const std::string&);
    struct Value {
        std::unique_ptr<std::optional<std::string>> given;
        std::string pointer;
        std::string option;
        ToJson to_json;
    };

    void add(const std::string& option, const std::string& pointer, const std::string& help, ToJson to_json);

    CLI::App& app_;
    std::vector<Value> values_;
    std::unique_ptr<std::vector<std::string>> settings_ = std::make_unique<std::vector<std::string>>();
};

/// The options that decide what is sent, apart from the line rate: the same in the program that sends, in the
/// one that predicts and in the one that shows.
void add_traffic_options(FieldOptions& options);

/// Parses; returns what to print and be done with (help, version). Throws UserError.
std::optional<std::string> parse_or_show(CLI::App& app, int argument_count, const char* const* arguments);

} // namespace generator
