#pragma once

#include "generator/profile.hpp"

#include <string>

namespace generator {

/// How buckets are reduced, for people: "server on rank 0, one worker after another, segments of at most
/// 262.1 kB, 2 channels".
std::string collective_text(const CollectiveSettings& collective);

} // namespace generator
