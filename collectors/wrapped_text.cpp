#include "collectors/wrapped_text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace collectors {

std::string wrapped(std::string_view text, std::size_t width) {
    std::string result;
    std::size_t column = 0;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find(' ', begin), text.size());
        const std::string_view word = text.substr(begin, end - begin);
        if (column > 0) {
            const bool fits = column + 1 + word.size() <= width;
            result += fits ? ' ' : '\n';
            column = fits ? column + 1 : 0;
        }
        result += word;
        column += word.size();
        begin = end + 1;
    }
    return result;
}

std::string labelled(std::string_view name, std::string_view text, std::size_t margin, std::size_t width) {
    std::string lines = wrapped(text, width - margin);
    for (std::size_t at = lines.find('\n'); at != std::string::npos; at = lines.find('\n', at + margin))
        lines.insert(at + 1, margin, ' ');
    return fmt::format("{:<{}}{}\n", name, margin, lines);
}

} // namespace collectors
