#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace collectors {

/// What the library says of a document, without the tag "[json.exception.type_error.302] " that only
/// programmers want.
inline std::string json_reason(const nlohmann::json::exception& error) {
    const std::string reason = error.what();
    const std::size_t begin = reason.find("] ");
    return begin == std::string::npos ? reason : reason.substr(begin + 2);
}

} // namespace collectors
