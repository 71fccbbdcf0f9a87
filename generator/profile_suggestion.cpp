#include "generator/profile_suggestion.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace generator {
namespace {

constexpr std::size_t max_name_length = 64; // longer text is no misspelling, and the distance is quadratic

/// Optimal string alignment distance: the rows of the classic table, one per character of `from`.
std::size_t edit_distance(std::string_view from, std::string_view to) {
    std::vector<std::vector<std::size_t>> distance(from.size() + 1, std::vector<std::size_t>(to.size() + 1));
    for (std::size_t i = 0; i <= from.size(); ++i) {
        for (std::size_t j = 0; j <= to.size(); ++j) {
            if (i == 0 || j == 0) {
                distance[i][j] = i + j;
                continue;
            }
            const std::size_t replaced = distance[i - 1][j - 1] + (from[i - 1] == to[j - 1] ? 0 : 1);
            distance[i][j] = std::min({distance[i - 1][j] + 1, distance[i][j - 1] + 1, replaced});
            if (i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1]) {
                distance[i][j] = std::min(distance[i][j], distance[i - 2][j - 2] + 1);
            }
        }
    }
    return distance[from.size()][to.size()];
}

} // namespace

std::optional<std::string> nearest_name(std::string_view wrong, std::span<const std::string> names) {
    if (wrong.size() > max_name_length) {
        return std::nullopt;
    }
    std::optional<std::string> nearest;
    std::size_t least = 0;
    for (const std::string& name : names) {
        const std::size_t distance = edit_distance(wrong, name);
        // More than half of the characters wrong is not a misspelling any more.
        const bool near = distance <= std::max<std::size_t>(2, std::max(wrong.size(), name.size()) / 2);
        if (near && (!nearest || distance < least)) {
            nearest = name;
            least = distance;
        }
    }
    return nearest;
}

std::string suggestion(std::string_view wrong, std::span<const std::string> names) {
    const std::optional<std::string> nearest = nearest_name(wrong, names);
    return nearest ? "; did you mean \"" + *nearest + "\"?" : "";
}

} // namespace generator
