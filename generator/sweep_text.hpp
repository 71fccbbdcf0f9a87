#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace generator {

/// The table of a sweep for people, from its sweep.json, which must be as tools/sweep.schema.json wants it.
std::string sweep_text(const nlohmann::ordered_json& sweep);

} // namespace generator
