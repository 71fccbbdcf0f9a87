#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace collectors {

/// `text` in lines of at most `width` columns (longer words stay whole), broken between words: "a b\nc", with
/// no line feed at the end. Counts bytes, not characters.
std::string wrapped(std::string_view text, std::size_t width);

} // namespace collectors
