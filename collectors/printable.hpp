#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include <fmt/format.h>

/// Names come from files, file systems and the kernel; an interface may have an escape sequence for a name.
/// None may tell a terminal what to do.
namespace collectors {

/// True if some character of the UTF-8 text, line feed and tab included, is a control character.
bool has_control_characters(std::string_view text);

/// `text` with its control characters, but for line feeds and tabs, as \x1b.
std::string printable(std::string_view text);

/// fmt::print of printable text.
template <typename... Arguments>
void print_safely(std::FILE* file, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    const std::string text = printable(fmt::format(format, std::forward<Arguments>(arguments)...));
    std::fwrite(text.data(), 1, text.size(), file);
}

template <typename... Arguments>
void print_safely(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    print_safely(stdout, format, std::forward<Arguments>(arguments)...);
}

} // namespace collectors
