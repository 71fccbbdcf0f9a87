#pragma once

#include <exception>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

/// What many tests do with texts.
namespace tests {

inline bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

inline std::string text_of(const std::filesystem::path& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

inline void write_text(const std::filesystem::path& path, const std::string& text) {
    std::ofstream(path) << text;
}

/// What the action throws, if it is an Error; "no error" if it throws nothing.
template <class Error = std::exception, class Action>
std::string message_of(Action action) {
    try {
        action();
    } catch (const Error& error) {
        return error.what();
    }
    return "no error";
}

} // namespace tests
