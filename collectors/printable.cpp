#include "collectors/printable.hpp"

#include <algorithm>
#include <cstddef>

namespace collectors {

namespace {

/// Length of the control character with which the text begins; 0 if it begins with another one. Those from
/// 0x80 on, which old terminals obey too, take two bytes in UTF-8, c2 80 to c2 9f.
std::size_t control_length(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    if (byte(0) < 0x20 || byte(0) == 0x7f)
        return 1;
    return text.size() > 1 && byte(0) == 0xc2 && byte(1) >= 0x80 && byte(1) < 0xa0 ? 2 : 0;
}

} // namespace

bool has_control_characters(std::string_view text) {
    for (; !text.empty(); text.remove_prefix(1))
        if (control_length(text) > 0)
            return true;
    return false;
}

std::string printable(std::string_view text) {
    std::string result;
    result.reserve(text.size());
    while (!text.empty()) {
        const std::size_t control = text[0] == '\n' || text[0] == '\t' ? 0 : control_length(text);
        for (const char c : text.substr(0, control))
            result += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
        if (control == 0)
            result += text[0];
        text.remove_prefix(std::max<std::size_t>(control, 1));
    }
    return result;
}

} // namespace collectors
