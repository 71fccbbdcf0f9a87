#pragma once

#include "generator/profile.hpp"
#include "tests/text.hpp"

#include <filesystem>
#include <string>
#include <vector>

/// Profiles that tests read: those in the repository, and texts of their own.
namespace tests {

inline const std::filesystem::path shipped_profiles = GRADBURST_SOURCE_DIR "/profiles";

inline generator::Profile shipped_profile(const std::string& name) {
    return generator::parse_profile(generator::load_profile(name, {shipped_profiles}));
}

inline generator::Override set(const std::string& pointer, const std::string& json) {
    return {pointer, json, "test"};
}

inline generator::Profile parse(const std::string& text,
                                const std::vector<generator::Override>& overrides = {}) {
    return generator::parse_profile({"test.json", text, ""}, overrides);
}

/// Of a text that is no profile: what the user is told.
inline std::string error_of(const std::string& text, const std::vector<generator::Override>& overrides = {}) {
    return message_of<generator::ProfileError>([&] { parse(text, overrides); });
}

} // namespace tests
