#pragma once

#include "tools/iteration_view.hpp"

#include <cstddef>
#include <string>

namespace tools {

struct PictureSettings {
    std::size_t width = 80;      ///< columns; at least `least_picture_width`
    std::size_t most_lines = 24; ///< buckets are drawn together when there are more
    bool ascii = false;          ///< no characters beyond ASCII
};

constexpr std::size_t least_picture_width = 60;

/// An iteration as text: a scale in milliseconds, the computing as a bar, and a line for each bucket from
/// where it is ready to where computing needs it. No line is wider than `width` unless the buckets' names
/// are.
std::string draw(const IterationView& view, const PictureSettings& settings);

} // namespace tools
