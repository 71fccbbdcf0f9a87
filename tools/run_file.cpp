#include "tools/run_file.hpp"

#include "tools/report_page.hpp"
#include "tools/schema_check.hpp"

#include "generator/failure.hpp"
#include "generator/profile_syntax.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>

namespace tools {
namespace {

using Json = nlohmann::ordered_json;
using generator::UserError;

/// A format in its first version.
struct Format {
    std::string_view file;   ///< its name
    std::string_view family; ///< of all versions
    std::string_view schema;

    std::string name() const { return std::string(family) + "1"; }
};

void require_format(const nlohmann::json& document, const Format& wanted, const std::string& name) {
    const auto format = document.is_object() ? document.find("format") : document.end();
    if (!document.is_object() || format == document.end() || !format->is_string())
        throw UserError(fmt::format("{}: /format: is missing; this is no {}", name, wanted.file));
    const std::string text = format->get<std::string>();
    if (text == wanted.name())
        return;
    if (!text.starts_with(wanted.family))
        throw UserError(fmt::format("{}: /format: is \"{}\", not \"{}\"", name, text, wanted.name()));
    int version = 0;
    const char* const digits = text.data() + wanted.family.size();
    const auto [end, error] = std::from_chars(digits, text.data() + text.size(), version);
    const bool newer = error == std::errc{} && end == text.data() + text.size() && version > 1;
    throw UserError(
        fmt::format("{}: /format: is \"{}\", and this gradburst-report ({}) reads \"{}\" alone; {}", name,
                    text, GRADBURST_VERSION, wanted.name(),
                    newer ? "use the gradburst-report of the version that made this run, or a later one"
                          : "use the gradburst-report of the version that made this run, or repeat the run"));
}

/// Throws with the first few problems, each in a line of its own.
void require_schema(const nlohmann::json& document, std::string_view schema, const std::string& name) {
    constexpr std::size_t most_shown = 5;
    const std::vector<std::string> problems = schema_problems(nlohmann::json::parse(schema), document);
    if (problems.empty())
        return;
    std::string text;
    for (std::size_t i = 0; i < std::min(most_shown, problems.size()); ++i)
        text += fmt::format("{}{}: {}", i == 0 ? "" : "\n", name, problems[i]);
    if (problems.size() > most_shown)
        text += fmt::format("\nand {} more", problems.size() - most_shown);
    throw UserError(text);
}

Json parse_document(std::string_view text, const Format& format, const std::string& name) {
    nlohmann::json checked;
    try {
        checked = generator::parse_json(text);
    } catch (const std::invalid_argument& error) { // says line and column
        throw UserError(fmt::format("{}: {}", name, error.what()));
    }
    require_format(checked, format, name);
    require_schema(checked, format.schema, name);
    return Json::parse(text);
}

} // namespace

Json parse_run_json(std::string_view text, const std::string& name) {
    return parse_document(text, {"run.json", "gradburst-run/", page::run_schema}, name);
}

Json parse_sweep_json(std::string_view text, const std::string& name) {
    return parse_document(text, {"sweep.json", "gradburst-sweep/", page::sweep_schema}, name);
}

} // namespace tools
