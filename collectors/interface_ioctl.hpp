#pragma once

#include "collectors/interfaces.hpp"

#include <string>

namespace collectors {

/// State and driver of an interface of the calling thread's network namespace without /sys. What the kernel
/// does not tell is empty.
NetworkInterface ask_about(const std::string& name);

} // namespace collectors
