#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace generator {

/// The name that was probably meant: fewest insertions, deletions, replacements and swaps of neighbours; the
/// first among equals; nullopt if nothing is near.
std::optional<std::string> nearest_name(std::string_view wrong, std::span<const std::string> names);

/// `; did you mean "ring"?`, or nothing.
std::string suggestion(std::string_view wrong, std::span<const std::string> names);

} // namespace generator
