#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tools {

/// The names in the first line of a CSV file; no names if the file is not there or empty.
std::vector<std::string> column_names(const std::filesystem::path& path);

/// The place of a column; none if the file has no such column.
std::optional<std::size_t> column_of(const std::vector<std::string>& names, std::string_view name);

/// Calls `row` with the whole numbers of each line below the first; a field that is empty or no number is
/// none. One line is in memory at a time. A last line without its end is ignored: its writer was killed.
void for_each_number_row(const std::filesystem::path& path,
                         const std::function<void(std::span<const std::optional<std::int64_t>>)>& row);

} // namespace tools
