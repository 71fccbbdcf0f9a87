#include "tools/schema_check.hpp"

#include "generator/profile_syntax.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#define VALIJSON_USE_EXCEPTIONS 1 // rather than abort()
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

namespace tools {
namespace {

using nlohmann::json;
using valijson::adapters::NlohmannJsonAdapter;
using Problem = valijson::ValidationResults::Error;

constexpr std::size_t longest_value = 60;

/// A value of the document and what the schema says of it.
struct CheckedValue {
    std::string path; ///< a JSON pointer, safe to print
    const json* value = nullptr;
    const json* wanted = nullptr;
};

const json& resolved(const json& schema, const json& part) {
    const auto reference = part.find("$ref"); // "#/definitions/..."
    return reference == part.end()
               ? part
               : schema.at(json::json_pointer(reference->get_ref<const std::string&>().substr(1)));
}

/// `context` is the library's: "<root>", "[interfaces]", "[0]".
CheckedValue checked_value(const std::vector<std::string>& context, const json& schema,
                           const json& document) {
    CheckedValue place{"", &document, &schema};
    for (std::size_t i = 1; i < context.size(); ++i) {
        const std::string key = context[i].substr(1, context[i].size() - 2);
        place.path = generator::child_path(place.path, key);
        const bool in_list = place.value->is_array();
        place.value = in_list ? &place.value->at(std::stoul(key)) : &place.value->at(key);
        place.wanted =
            &resolved(schema, in_list ? place.wanted->at("items") : place.wanted->at("properties").at(key));
    }
    return place;
}

/// What the schema calls string, ... in words.
std::string in_words(const std::string& type) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 7> words{
        {{"string", "text"},
         {"object", "an object"},
         {"array", "a list"},
         {"boolean", "true or false"},
         {"number", "a number"},
         {"integer", "a whole number"},
         {"null", "null"}}};
    const auto found =
        std::find_if(words.begin(), words.end(), [&](const auto& each) { return each.first == type; });
    return std::string(found == words.end() ? std::string_view(type) : found->second);
}

std::vector<std::string> types_of(const json& wanted) {
    const auto type = wanted.find("type");
    if (type == wanted.end())
        return {};
    return type->is_array() ? type->get<std::vector<std::string>>() : std::vector{type->get<std::string>()};
}

std::string bounds_text(const json& wanted) {
    if (wanted.contains("minimum"))
        return fmt::format(" from {} to {}", wanted["minimum"].dump(), wanted.at("maximum").dump());
    if (wanted.contains("exclusiveMinimum"))
        return fmt::format(" above {} and up to {}", wanted["exclusiveMinimum"].dump(),
                           wanted.at("maximum").dump());
    return wanted.contains("maxItems") ? fmt::format(" of at most {}", wanted["maxItems"].dump()) : "";
}

std::string wanted_text(const json& wanted) {
    if (wanted.contains("const"))
        return wanted["const"].dump();
    std::vector<std::string> choices;
    if (wanted.contains("enum")) {
        for (const json& value : wanted["enum"])
            choices.push_back(value.dump());
        return fmt::format("one of {}", fmt::join(choices, ", "));
    }
    for (const std::string& type : types_of(wanted)) {
        const bool bounded = type == "number" || type == "integer" || type == "array";
        choices.push_back(in_words(type) + (bounded ? bounds_text(wanted) : ""));
    }
    return fmt::format("{}", fmt::join(choices, " or "));
}

std::string given_text(const json& value, const json& wanted) {
    const std::vector<std::string> types = types_of(wanted);
    const bool is_of_type = std::any_of(types.begin(), types.end(), [&](const std::string& type) {
        return type == value.type_name() || (type == "integer" && value.is_number());
    });
    const bool is_listed = !value.is_structured() && (wanted.contains("const") || wanted.contains("enum"));
    if (value.is_array() && is_of_type)
        return fmt::format("one of {}", value.size());
    if ((!is_of_type && !is_listed) || value.is_structured())
        return in_words(value.type_name());
    const std::string text = value.dump();
    return text.size() > longest_value ? text.substr(0, longest_value) + "..." : text;
}

/// Empty for what only repeats what is wrong further inside.
std::string problem_text(const Problem& problem, const json& schema, const json& document) {
    const std::string& said = problem.description;
    if (said.starts_with("Failed to validate"))
        return "";
    const CheckedValue place = checked_value(problem.context, schema, document);
    if (said.starts_with("Missing required property")) {
        const std::size_t begin = said.find('\'') + 1;
        return generator::child_path(place.path, said.substr(begin, said.rfind('\'') - begin)) +
               ": is missing";
    }
    return fmt::format("{}: must be {}, is {}", place.path, wanted_text(*place.wanted),
                       given_text(*place.value, *place.wanted));
}

} // namespace

std::vector<std::string> schema_problems(const json& schema, const json& document) {
    valijson::Schema parsed;
    valijson::SchemaParser(valijson::SchemaParser::kDraft7)
        .populateSchema(NlohmannJsonAdapter(schema), parsed);
    valijson::Validator validator;
    const NlohmannJsonAdapter target(document);
    if (validator.validate(parsed, target, nullptr)) // the usual case, without collecting anything
        return {};
    valijson::ValidationResults results;
    validator.validate(parsed, target, &results);
    std::vector<std::string> problems;
    for (const Problem& each : results) {
        std::string text = problem_text(each, schema, document);
        const bool is_new =
            problems.empty() || problems.back() != text; // -1.5 is no whole number and too small
        if (!text.empty() && is_new)
            problems.push_back(std::move(text));
    }
    return problems;
}

} // namespace tools
