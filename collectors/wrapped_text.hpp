#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace collectors {

/// `text` in lines of at most `width` columns (longer words stay whole), broken between words: "a b\nc", with
/// no line feed at the end. Counts bytes, not characters.
std::string wrapped(std::string_view text, std::size_t width);

/// "name     text, broken at `width` columns", with a line feed; further lines begin below the text, which
/// begins at column `margin`.
std::string labelled(std::string_view name, std::string_view text, std::size_t margin, std::size_t width);

} // namespace collectors
