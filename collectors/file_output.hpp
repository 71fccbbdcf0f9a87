#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace collectors {

/// write(2) until everything is written. Throws std::system_error "write <path>".
void write_all(int descriptor, std::string_view text, const std::filesystem::path& path);

/// Of several files, why each could not be written to its end, empty if it was. Throws std::runtime_error
/// with all reasons, if there is one.
void require_written(std::vector<std::string> errors);

} // namespace collectors
