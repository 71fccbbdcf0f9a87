#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

/// run.json, which describes a run, and sweep.json, which compares those of a sweep; tools/run.schema.json
/// and tools/sweep.schema.json say what stands in them.
namespace tools {

/// The document in the order of the file, fit for all that a report reads. Throws generator::UserError that
/// names `name` and the place: no JSON, another format, or not as the schema wants it. Members that the
/// schema does not know are kept.
nlohmann::ordered_json parse_run_json(std::string_view text, const std::string& name);
nlohmann::ordered_json parse_sweep_json(std::string_view text, const std::string& name);

} // namespace tools
