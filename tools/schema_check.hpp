#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace tools {

/// What is wrong with `document` by a JSON Schema (draft 7), each with its place:
/// "/interfaces/0/host: is missing", "/iterations/count: must be a whole number, is text".
/// Empty if nothing is. The schema consists of type, const, enum, bounds, required, properties, items and
/// references into itself.
std::vector<std::string> schema_problems(const nlohmann::json& schema, const nlohmann::json& document);

} // namespace tools
