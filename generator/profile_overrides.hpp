#pragma once

#include "generator/profile.hpp"

#include <nlohmann/json_fwd.hpp>

#include <span>

namespace generator {

struct Origin;

/// Sets the overrides in `document`, removes what they replace, and notes in `origin` which option set what.
/// Throws std::invalid_argument.
void apply_overrides(nlohmann::json& document, std::span<const Override> overrides, Origin& origin);

} // namespace generator
