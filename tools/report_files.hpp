#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace tools {

/// Throws generator::UserError if a file is there that gradburst-report did not write, unless `overwrite`.
void require_ours(const std::filesystem::path& path, bool overwrite);

/// Writes beside, then renames: whoever reads sees the old file or the new one, whole. Throws
/// std::system_error that names the file.
void replace_file(const std::filesystem::path& path, std::string_view content);

} // namespace tools
