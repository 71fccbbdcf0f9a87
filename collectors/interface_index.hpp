#pragma once

#include "collectors/route_socket.hpp"

#include <string>

namespace collectors {

/// The index of the interface of that name in the network namespace of the socket; 0 if there is none, or no
/// answer. Does not allocate.
unsigned interface_index(RouteSocket& socket, const std::string& name) noexcept;

/// The name that the interface with that index has now; empty if there is none, or no answer.
std::string interface_name(RouteSocket& socket, unsigned index);

} // namespace collectors
