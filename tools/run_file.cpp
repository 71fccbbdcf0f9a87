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

constexpr std::string_view run_format = "gradburst-run/1";
constexpr std::string_view format_name = "gradburst-run/";

void require_format(const nlohmann::json& run, const std::string& name) {
    const auto format = run.is_object() ? run.find("format") : run.end();
    if (!run.is_object() || format == run.end() || !format->is_string())
        throw UserError(fmt::format("{}: /format: is missing; this is no run.json", name));
    const std::string text = format->get<std::string>();
    if (text == run_format)
        return;
    if (!text.starts_with(format_name))
        throw UserError(fmt::format("{}: /format: is \"{}\", not \"{}\"", name, text, run_format));
    int version = 0;
    const char* const digits = text.data() + format_name.size();
    const auto [end, error] = std::from_chars(digits, text.data() + text.size(), version);
    const bool newer = error == std::errc{} && end == text.data() + text.size() && version > 1;
    throw UserError(
        fmt::format("{}: /format: is \"{}\", and this gradburst-report ({}) reads \"{}\" alone; {}", name,
                    text, GRADBURST_VERSION, run_format,
                    newer ? "use the gradburst-report of the version that made this run, or a later one"
                          : "use the gradburst-report of the version that made this run, or repeat the run"));
}

/// Throws with the first few problems, each in a line of its own.
void require_schema(const nlohmann::json& run, const std::string& name) {
    constexpr std::size_t most_shown = 5;
    const std::vector<std::string> problems = schema_problems(nlohmann::json::parse(page::run_schema), run);
    if (problems.empty())
        return;
    std::string text;
    for (std::size_t i = 0; i < std::min(most_shown, problems.size()); ++i)
        text += fmt::format("{}{}: {}", i == 0 ? "" : "\n", name, problems[i]);
    if (problems.size() > most_shown)
        text += fmt::format("\nand {} more", problems.size() - most_shown);
    throw UserError(text);
}

} // namespace

Json parse_run_json(std::string_view text, const std::string& name) {
    nlohmann::json checked;
    try {
        checked = generator::parse_json(text);
    } catch (const std::invalid_argument& error) { // says line and column
        throw UserError(fmt::format("{}: {}", name, error.what()));
    }
    require_format(checked, name);
    require_schema(checked, name);
    return Json::parse(text);
}

} // namespace tools
