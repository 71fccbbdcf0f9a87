#include "tools/number_rows.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>

namespace tools {

namespace {

void split(std::string_view line, const std::function<void(std::string_view)>& field) {
    while (true) {
        const std::size_t comma = line.find(',');
        field(line.substr(0, comma));
        if (comma == std::string_view::npos)
            return;
        line.remove_prefix(comma + 1);
    }
}

std::optional<std::int64_t> number_of(std::string_view field) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
    if (error != std::errc() || end != field.data() + field.size())
        return std::nullopt;
    return value;
}

} // namespace

std::vector<std::string> column_names(const std::filesystem::path& path) {
    std::vector<std::string> names;
    std::ifstream file(path);
    if (std::string line; std::getline(file, line))
        split(line, [&](std::string_view field) { names.emplace_back(field); });
    return names;
}

std::optional<std::size_t> column_of(const std::vector<std::string>& names, std::string_view name) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end())
        return std::nullopt;
    return static_cast<std::size_t>(found - names.begin());
}

void for_each_number_row(const std::filesystem::path& path,
                         const std::function<void(std::span<const std::optional<std::int64_t>>)>& row) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    std::vector<std::optional<std::int64_t>> numbers;
    while (std::getline(file, line) && !file.eof()) {
        numbers.clear();
        split(line, [&](std::string_view field) { numbers.push_back(number_of(field)); });
        row(numbers);
    }
}

} // namespace tools
