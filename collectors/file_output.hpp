#pragma once

#include <filesystem>
#include <string_view>

namespace collectors {

/// write(2) until everything is written. Throws std::system_error "write <path>".
void write_all(int descriptor, std::string_view text, const std::filesystem::path& path);

} // namespace collectors
