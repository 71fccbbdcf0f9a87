#pragma once

#include <filesystem>
#include <string>

namespace generator {

/// A path rather than the name of a profile: has a '/' or ends in ".json".
bool is_profile_path(const std::string& name);

/// The whole file; `as` is how messages name it. Throws ProfileError: a directory, unreadable, too large.
std::string read_profile_file(const std::filesystem::path& path, const std::string& as);

} // namespace generator
