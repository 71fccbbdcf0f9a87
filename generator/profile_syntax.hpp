#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <string_view>

namespace generator {

/// Parses JSON text more strictly than the library: a key that stands twice in one object is an error (the
/// library keeps the last one silently), and so is nesting deeper than any of our files needs. Throws
/// std::invalid_argument with line and column of a syntax error, or the JSON path of a duplicate.
nlohmann::json parse_json(std::string_view text);

/// The JSON path of a member: `/run` + `seed` = `/run/seed`, escaped as JSON pointers are and safe to print.
std::string child_path(const std::string& path, std::string_view key);

} // namespace generator
